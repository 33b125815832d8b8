// SPDX-License-Identifier: BSD-2-Clause
#include "usdt/generator/files.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <sstream>

#include "daemon/base/fd.h"
#include "usdt/generator/lexer.h"

namespace tracectl::generator {
namespace {

// Reads one byte more than the limit, to detect a text that is too long.
Result<std::string> read_all(int fd, const std::string& what) {
  std::string text;
  char part[65536];
  while (text.size() <= kMostFileBytes) {
    const ssize_t got = read(fd, part, sizeof part);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return Error::from_errno("cannot read " + what);
    if (got == 0) break;
    text.append(part, static_cast<size_t>(got));
  }
  return text;
}

// $CC may contain options: "gcc -m64".
std::vector<std::string> compiler() {
  const char* set = std::getenv("CC");
  std::istringstream words{set ? set : ""};
  std::vector<std::string> command;
  for (std::string word; words >> word;) command.push_back(word);
  if (command.empty()) command.push_back("cc");
  return command;
}

Result<pid_t> start(const std::vector<std::string>& command, int out) {
  std::vector<char*> words;
  for (const std::string& word : command) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
  pid_t pid = 0;
  const int failed = posix_spawnp(&pid, words[0], &actions, nullptr, words.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (failed) return Error::from_errno("cannot run " + command[0] + " for -C", failed);
  return pid;
}

Status wait_for(pid_t pid, const std::string& command) {
  int status = 0;
  while (waitpid(pid, &status, 0) < 0)
    if (errno != EINTR) return Error::from_errno("cannot wait for " + command);
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return ok();
  return Error{Code::invalid, command + " -E failed"};
}

// Does not remove a device or a link that was there before, which root could.
void remove_regular(const std::string& path) {
  struct stat there;
  if (lstat(path.c_str(), &there) == 0 && S_ISREG(there.st_mode)) unlink(path.c_str());
}

}  // namespace

Result<std::string> read_file(const std::string& path) {
  const Fd file{open(path.c_str(), O_RDONLY | O_CLOEXEC)};
  if (!file) return Error::from_errno("cannot open " + path);
  return read_all(file.get(), path);
}

Result<std::string> preprocess(const std::string& path, const std::vector<std::string>& options) {
  std::vector<std::string> command = compiler();
  command.insert(command.end(), {"-E", "-x", "c"});
  command.insert(command.end(), options.begin(), options.end());
  command.push_back(path);
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return Error::from_errno("cannot make a pipe");
  const Fd from{ends[0]};
  Fd to{ends[1]};
  auto pid = start(command, to.get());
  if (!pid) return pid.error();
  to.reset();
  auto text = read_all(from.get(), "what " + command[0] + " prints");
  if (auto ended = wait_for(*pid, command[0]); !ended) return ended.error();
  return text;
}

Status write_file(const std::string& path, const std::string& text) {
  const bool is_standard = path == "-";
  std::FILE* file = is_standard ? stdout : std::fopen(path.c_str(), "we");
  if (!file) return Error::from_errno("cannot write " + path);
  const bool is_whole = std::fwrite(text.data(), 1, text.size(), file) == text.size();
  const bool is_closed = (is_standard ? std::fflush(file) : std::fclose(file)) == 0;
  if (is_whole && is_closed) return ok();
  Error error = Error::from_errno("cannot write " + path);
  if (!is_standard) remove_regular(path);
  return error;
}

}  // namespace tracectl::generator
