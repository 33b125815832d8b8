// SPDX-License-Identifier: BSD-2-Clause
#include "tests/support/output_of.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <stdexcept>

#include "daemon/base/fd.h"

namespace tracectl {
namespace {

pid_t start(std::vector<std::string>& words, int output) {
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
  pid_t pid = -1;
  const int error = ::posix_spawnp(&pid, argv[0], &actions, nullptr, argv.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  if (error) throw std::runtime_error("cannot start " + words[0]);
  return pid;
}

std::string read_all(const Fd& from) {
  std::string text;
  char bytes[65536];
  for (ssize_t got; (got = ::read(from.get(), bytes, sizeof(bytes))) > 0;)
    text.append(bytes, static_cast<size_t>(got));
  return text;
}

}  // namespace

std::string output_of(std::vector<std::string> words) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC)) throw std::runtime_error("pipe2");
  const Fd read_end{ends[0]};
  Fd write_end{ends[1]};
  const pid_t pid = start(words, write_end.get());
  write_end.reset();
  std::string text = read_all(read_end);
  int status = 0;
  ::waitpid(pid, &status, 0);
  if (!WIFEXITED(status) || WEXITSTATUS(status)) throw std::runtime_error(words[0] + " failed");
  return text;
}

}  // namespace tracectl
