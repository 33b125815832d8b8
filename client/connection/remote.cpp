// SPDX-License-Identifier: BSD-2-Clause
#include "client/connection/remote.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <sstream>
#include <thread>

#include "client/connection/wait.h"
#include "client/options/options.h"
#include "client/output/output.h"
#include "daemon/base/fd.h"
#include "daemon/process/command.h"

namespace tracectl {
namespace {

constexpr int kSshFailed = 255;
constexpr int kNoProgramThere = 127;  // the exit status of shells

// Words between blanks, without a shell.
Words ssh_words() {
  const char* chosen = std::getenv("TRACECTL_SSH");
  std::istringstream text(chosen && *chosen ? chosen : "ssh");
  Words words;
  for (std::string word; text >> word;) words.push_back(word);
  return words;
}

// ^C is handled by this process: env(1) starts ssh with the signal ignored.
Result<Command> start_ssh(const std::string& host, const Words& words) {
  const Words ssh = ssh_words();
  if (ssh.empty()) return Error{Code::invalid, "$TRACECTL_SSH names no program"};
  if (auto found = find_program(ssh.front()); !found) return found.error();
  Words all{"env", "--ignore-signal=INT"};
  all.insert(all.end(), ssh.begin(), ssh.end());
  // exec, because a shell there would not pass the end on to its child.
  all.insert(all.end(), {"-T", host, "exec tracectl --end-with-input " + shell_text(words)});
  return Command::start(all);
}

struct Input {
  Fd write;
};

// The input of the program that is started, instead of our own.
Result<Input> make_input() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return Error::from_errno("pipe");
  const Fd read{ends[0]};
  Input input{Fd{ends[1]}};
  if (::dup2(read.get(), STDIN_FILENO) < 0) return Error::from_errno("dup2");
  return input;
}

int exit_status_there(const Ending& ending, const std::string& host) {
  if (ending.signal) return fail({Code::kernel, "ssh to " + host + " was ended by a signal"});
  if (*ending.exit_code == kSshFailed)
    return fail({Code::not_found, "cannot reach " + host + ", or the connection broke"});
  if (*ending.exit_code == kNoProgramThere)
    return fail({Code::not_found, "there is no tracectl on " + host + ": install it there"});
  return *ending.exit_code;
}

}  // namespace

Result<Words> without_host(const Words& words) {
  Words kept;
  const auto end = std::find(words.begin(), words.end(), "--");
  for (auto word = words.begin(); word != end; ++word) {
    const bool has_value =
        word->starts_with("--host=") || (word->starts_with("-H") && *word != "-H");
    if (has_value) continue;
    if (*word == "-H" || *word == "--host")
      ++word;
    else
      kept.push_back(*word);
  }
  if (kept.size() == static_cast<size_t>(end - words.begin()))
    return Error{Code::invalid, "give -H HOST as words of their own", "host"};
  kept.insert(kept.end(), end, words.end());
  return kept;
}

int run_remote(const std::string& host, const Words& words) {
  auto waiter = Waiter::open();
  if (!waiter) return fail(waiter.error());
  auto input = make_input();
  if (!input) return fail(input.error());
  auto ssh = start_ssh(host, words);
  if (!ssh) return fail(ssh.error());
  waiter->end_with(ssh->pidfd());
  if (auto released = ssh->release(); !released) return fail(released.error());
  const auto go_on = [] { return Result<bool>(true); };
  auto ended = waiter->run(-1, go_on);
  if (ended && *ended == Ended::interrupted) {
    input->write = Fd{};
    ended = waiter->run(-1, go_on);
  }
  // A second ^C: the user does not want to wait for the results, either.
  if (ended && *ended == Ended::interrupted)
    if (auto done = ssh->terminate(); !done) return fail(done.error());
  if (!ended) return fail(ended.error());
  auto ending = ssh->wait();
  return ending ? exit_status_there(*ending, host) : fail(ending.error());
}

Status end_with_input() {
  const int input = ::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3);
  if (input < 0) return Error::from_errno("standard input");
  const Fd nothing{::open("/dev/null", O_RDONLY | O_CLOEXEC)};
  if (!nothing || ::dup2(nothing.get(), STDIN_FILENO) < 0) return Error::from_errno("/dev/null");
  // A process group of its own, so that the signal reaches only this process and its children.
  if (::setpgid(0, 0) != 0 && errno != EPERM) return Error::from_errno("setpgid");
  std::thread([input] {
    sigset_t all;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, nullptr);  // its own signal must not interrupt this thread
    char buffer[4096];
    while (::read(input, buffer, sizeof(buffer)) > 0) {}
    ::kill(0, SIGINT);
  }).detach();
  return ok();
}

}  // namespace tracectl
