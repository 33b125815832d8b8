// SPDX-License-Identifier: BSD-2-Clause
#include "tests/support/program.h"

#include <fcntl.h>
#include <glob.h>
#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>

namespace tracectl::on_kernel {
namespace {

constexpr int kLongestWaitMs = 60'000;  // then the test fails

[[noreturn]] void fail(const std::string& what) {
  throw std::runtime_error(what + ": " + std::strerror(errno));
}

std::string read_at(const std::string& path, uint64_t offset, size_t size) {
  Fd fd{::open(path.c_str(), O_RDONLY | O_CLOEXEC)};
  if (!fd) fail(path);
  std::string bytes(size, '\0');
  const ssize_t got = ::pread(fd.get(), bytes.data(), size, static_cast<off_t>(offset));
  if (got < 0) fail(path);
  bytes.resize(static_cast<size_t>(got));
  return bytes;
}

}  // namespace

std::string build_folder() {
  auto folder = std::filesystem::read_symlink("/proc/self/exe").parent_path();
  while (folder.has_relative_path() && !std::filesystem::exists(folder / "targets"))
    folder = folder.parent_path();
  return folder;
}

std::string test_folder() {
  const char* own = std::getenv("TRACECTL_TEST_FOLDER");
  return own ? own : build_folder();
}

std::string target_path(const std::string& name) { return test_folder() + "/targets/" + name; }

std::string installed_path(const std::string& pattern) {
  glob_t found{};
  if (::glob(pattern.c_str(), 0, nullptr, &found) != 0)
    throw std::runtime_error("no " + pattern + ": scripts/install-deps installs it");
  std::string path = found.gl_pathv[0];
  ::globfree(&found);
  return path;
}

Program::Program(const std::string& name, const std::vector<std::string>& arguments)
    : path_(name.starts_with('/') ? name : target_path(name)) {
  if (::access(path_.c_str(), X_OK) != 0) fail(path_);
  std::vector<char*> argv{path_.data()};
  auto copies = arguments;
  for (auto& argument : copies) argv.push_back(argument.data());
  argv.push_back(nullptr);
  int to[2], from[2];
  if (::pipe2(to, O_CLOEXEC) || ::pipe2(from, O_CLOEXEC)) fail("pipe2");
  Fd their_in{to[0]}, their_out{from[1]};
  in_ = Fd{to[1]};
  out_ = Fd{from[0]};
  pid_ = ::fork();
  if (pid_ < 0) fail("fork");
  if (pid_ == 0) {
    ::dup2(their_in.get(), 0);
    ::dup2(their_out.get(), 1);
    ::execv(argv[0], argv.data());
    ::_exit(127);
  }
  their_in = Fd{};
  their_out = Fd{};
  while (!read_line().starts_with("ready")) {}
}

Program::~Program() {
  ::kill(pid_, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
}

void Program::send(const std::string& line) {
  const std::string text = line + "\n";
  if (::write(in_.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size()))
    fail("writing to " + path_);
}

std::string Program::finish() {
  while (read_line() != "done") {}
  return read_line();
}

std::string Program::run() {
  send("go");
  return finish();
}

std::string Program::leave() {
  send("exit");
  return read_line();
}

// Leaves the process for the destructor to reap, so that its number is not reused.
std::optional<int> Program::end_status() const {
  siginfo_t info{};
  if (::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT)) fail("waitid");
  if (info.si_pid == 0) return std::nullopt;
  return info.si_code == CLD_EXITED ? W_EXITCODE(info.si_status, 0) : W_EXITCODE(0, info.si_status);
}

int Program::wait_for_end() {
  const Fd process{static_cast<int>(::syscall(SYS_pidfd_open, pid_, 0))};
  if (!process) fail("pidfd_open");
  pollfd ended{.fd = process.get(), .events = POLLIN, .revents = 0};
  if (::poll(&ended, 1, kLongestWaitMs) != 1) throw std::runtime_error(path_ + " does not end");
  return end_status().value();
}

std::string Program::read_line() {
  for (;;) {
    const size_t end = buffered_.find('\n');
    if (end != std::string::npos) {
      std::string line = buffered_.substr(0, end);
      buffered_.erase(0, end + 1);
      return line;
    }
    pollfd ready{.fd = out_.get(), .events = POLLIN, .revents = 0};
    if (::poll(&ready, 1, kLongestWaitMs) != 1) throw std::runtime_error(path_ + " is silent");
    char bytes[65536];
    const ssize_t got = ::read(out_.get(), bytes, sizeof(bytes));
    if (got <= 0) throw std::runtime_error(path_ + " has ended");
    buffered_.append(bytes, static_cast<size_t>(got));
  }
}

std::vector<uint64_t> changed_code(pid_t pid, const std::string& path) {
  const std::string proc = "/proc/" + std::to_string(pid);
  std::ifstream maps(proc + "/maps");
  std::vector<uint64_t> changed;
  bool seen = false;
  for (std::string line; std::getline(maps, line);) {
    std::istringstream fields(line);
    std::string range, permissions, offset, device, inode, mapped;
    fields >> range >> permissions >> offset >> device >> inode >> mapped;
    if (mapped != path || permissions[2] != 'x') continue;
    seen = true;
    const uint64_t begin = std::stoull(range, nullptr, 16);
    const uint64_t end = std::stoull(range.substr(range.find('-') + 1), nullptr, 16);
    const uint64_t at = std::stoull(offset, nullptr, 16);
    const std::string file = read_at(path, at, end - begin);
    const std::string memory = read_at(proc + "/mem", begin, file.size());
    if (memory.size() != file.size()) throw std::runtime_error("short read of " + proc + "/mem");
    for (size_t i = 0; i < file.size(); ++i)
      if (file[i] != memory[i]) changed.push_back(at + i);
  }
  if (!seen) throw std::runtime_error(proc + " maps no code of " + path);
  return changed;
}

}  // namespace tracectl::on_kernel
