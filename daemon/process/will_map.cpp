// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/process/will_map.h"

#include <elf.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "daemon/base/fd.h"

namespace tracectl {
namespace {

constexpr int kMaxScripts = 4;           // nested interpreters: the kernel's own limit
constexpr size_t kMaxListing = 4 << 20;  // bytes
constexpr std::chrono::seconds kMaxListingTime{10};

std::string read_at(const Fd& fd, uint64_t offset, size_t size_bytes) {
  std::string bytes(size_bytes, '\0');
  ssize_t got = pread(fd.get(), bytes.data(), bytes.size(), static_cast<off_t>(offset));
  bytes.resize(got > 0 ? static_cast<size_t>(got) : 0);
  return bytes;
}

template <class Layout> bool read_layout(const Fd& fd, uint64_t offset, Layout& layout) {
  std::string bytes = read_at(fd, offset, sizeof layout);
  if (bytes.size() != sizeof layout) return false;
  std::memcpy(&layout, bytes.data(), sizeof layout);
  return true;
}

// The dynamic loader that a 64-bit ELF file requests; empty if none.
std::string loader_of(const Fd& fd) {
  Elf64_Ehdr header{};
  if (!read_layout(fd, 0, header) || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) return {};
  if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_phentsize != sizeof(Elf64_Phdr)) return {};
  for (unsigned i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr segment{};
    if (!read_layout(fd, header.e_phoff + i * sizeof segment, segment)) return {};
    if (segment.p_type != PT_INTERP) continue;
    std::string name = read_at(fd, segment.p_offset, std::min<uint64_t>(segment.p_filesz, 4096));
    return name.substr(0, name.find('\0'));
  }
  return {};
}

// The interpreter in a script's first line; empty if it is no script.
std::string interpreter_of(const Fd& fd) {
  std::string line = read_at(fd, 0, 256);
  if (!line.starts_with("#!")) return {};
  line = line.substr(0, line.find('\n')).substr(2);
  size_t start = line.find_first_not_of(" \t");
  if (start == std::string::npos) return {};
  return line.substr(start, line.find_first_of(" \t", start) - start);
}

std::string real_path(const std::string& path) {
  std::unique_ptr<char, void (*)(void*)> real{realpath(path.c_str(), nullptr), std::free};
  return real ? std::string{real.get()} : path;
}

Result<Fd> open_program(const std::string& path) {
  Fd fd{open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
  if (!fd) return Error::from_errno("open " + path);
  struct stat found {};
  if (fstat(fd.get(), &found) != 0 || !S_ISREG(found.st_mode))
    return Error{Code::invalid, path + " is no file that may be executed"};
  return fd;
}

// Reads from a pipe until its end. Fails if that is too much or takes too long.
Result<std::string> drain(const Fd& fd) {
  std::string text;
  std::array<char, 4096> buffer;
  auto deadline = std::chrono::steady_clock::now() + kMaxListingTime;
  while (text.size() < kMaxListing) {
    auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        deadline - std::chrono::steady_clock::now());
    if (left.count() <= 0) return Error{Code::exhausted, "it took too long"};
    pollfd ready{.fd = fd.get(), .events = POLLIN, .revents = 0};
    if (poll(&ready, 1, static_cast<int>(left.count())) <= 0) continue;
    ssize_t got = read(fd.get(), buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return Error::from_errno("read its answer");
    if (got == 0) return text;
    text.append(buffer.data(), static_cast<size_t>(got));
  }
  return Error{Code::exhausted, "its answer is too long"};
}

struct FileActions {
  posix_spawn_file_actions_t raw;
  FileActions() { posix_spawn_file_actions_init(&raw); }
  ~FileActions() { posix_spawn_file_actions_destroy(&raw); }
  FileActions(const FileActions&) = delete;
  FileActions& operator=(const FileActions&) = delete;
};

Result<std::string> ask_loader(const std::string& loader, const std::string& path) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return Error::from_errno("make a pipe");
  Fd answer{ends[0]};
  Fd output{ends[1]};
  FileActions actions;
  posix_spawn_file_actions_addopen(&actions.raw, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions.raw, output.get(), STDOUT_FILENO);
  posix_spawn_file_actions_addopen(&actions.raw, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  std::array<char*, 4> arguments{const_cast<char*>(loader.c_str()), const_cast<char*>("--list"),
                                 const_cast<char*>(path.c_str()), nullptr};
  pid_t pid = 0;
  int err = posix_spawn(&pid, loader.c_str(), &actions.raw, nullptr, arguments.data(), environ);
  if (err != 0) return Error::from_errno("run " + loader, err);
  output.reset();
  auto text = drain(answer);
  if (!text) kill(pid, SIGKILL);
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {}
  if (!text) return text.error().in("ask " + loader + " for the libraries of " + path);
  if (status != 0)
    return Error{Code::not_found,
                 loader + " finds no way to load " + path + "; see what ldd says of it"};
  return text;
}

void add_new(std::vector<std::string>& paths, std::string path) {
  if (std::ranges::find(paths, path) == paths.end()) paths.push_back(std::move(path));
}

Result<std::vector<std::string>> will_map(const std::string& path, int scripts_left) {
  auto fd = open_program(path);
  if (!fd) return fd.error();
  if (auto interpreter = interpreter_of(*fd); !interpreter.empty()) {
    if (scripts_left == 0)
      return Error{Code::invalid, path + " is a script whose interpreter is a script, too often"};
    return will_map(interpreter, scripts_left - 1);
  }
  std::vector<std::string> paths{real_path(path)};
  std::string loader = loader_of(*fd);
  if (loader.empty()) return paths;
  auto listing = ask_loader(loader, paths.front());
  if (!listing) return listing.error();
  for (const std::string& library : parse_loader_list(*listing)) add_new(paths, real_path(library));
  return paths;
}

}  // namespace

// A name with a slash that is not absolute (DT_NEEDED) depends on the working directory.
// `	libc.so.6 => /lib/x86_64-linux-gnu/libc.so.6 (0x00007f...)`, `	/lib64/ld-linux-x86-64.so.2 (0x...)`
std::vector<std::string> parse_loader_list(std::string_view text) {
  std::vector<std::string> paths;
  while (!text.empty()) {
    auto line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    size_t address = line.rfind(" (0x");
    if (address == std::string_view::npos) continue;
    line = line.substr(0, address);
    line.remove_prefix(std::min(line.size(), line.find_first_not_of("\t ")));
    if (size_t arrow = line.find(" => "); arrow != std::string_view::npos)
      line.remove_prefix(arrow + 4);
    if (line.find('/') != std::string_view::npos) paths.emplace_back(line);
  }
  return paths;
}

Result<std::vector<std::string>> will_map(const std::string& path) {
  return will_map(path, kMaxScripts);
}

}  // namespace tracectl
