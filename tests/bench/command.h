// SPDX-License-Identifier: BSD-2-Clause
//
// Another program that a measurement runs: tracectl, tracectld or the tool for comparison.
#pragma once

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "daemon/base/clock.h"

namespace tracectl::bench {

inline uint64_t now_ns() { return clock_ns(CLOCK_MONOTONIC); }

class Command {
 public:
  static constexpr uint64_t kPatienceNs = 30'000'000'000;

  // Its standard output and its standard error go to files.
  explicit Command(std::vector<std::string> words, const char* said_to = "/dev/null",
                   const char* prints_to = "/dev/null") {
    std::vector<char*> argv;
    for (auto& word : words) argv.push_back(word.data());
    argv.push_back(nullptr);
    pid_ = ::fork();
    if (pid_ < 0) throw std::runtime_error("fork");
    if (pid_ == 0) {
      ::dup2(::open("/dev/null", O_RDONLY | O_CLOEXEC), 0);
      ::dup2(open_new(prints_to), 1);
      ::dup2(open_new(said_to), 2);
      ::execvp(argv[0], argv.data());
      ::_exit(127);
    }
  }
  Command(const Command&) = delete;
  Command& operator=(const Command&) = delete;
  ~Command() { end(SIGKILL); }

  pid_t pid() const { return pid_; }

  // The exit status, or -1 if a signal ended it.
  int wait() {
    int status = 0;
    if (pid_ > 0) ::wait4(std::exchange(pid_, -1), &status, 0, &used_);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }
  // Valid after wait() or end().
  const rusage& used() const { return used_; }
  double used_cpu_ns() const {
    return static_cast<double>(used_.ru_utime.tv_sec + used_.ru_stime.tv_sec) * 1e9 +
           static_cast<double>(used_.ru_utime.tv_usec + used_.ru_stime.tv_usec) * 1e3;
  }
  // Throws if it has ended: then the event that is waited for cannot come.
  void expect_running() {
    if (pid_ > 0 && ::waitpid(pid_, nullptr, WNOHANG) == 0) return;
    pid_ = -1;
    throw std::runtime_error("a tool ended before its time");
  }
  // Sends the signal until it ends: bpftrace loses a signal that comes before its main loop.
  void end(int signal) {
    while (pid_ > 0 && ::kill(pid_, signal) == 0) {
      const uint64_t asked_ns = now_ns();
      while (now_ns() - asked_ns < kPatienceNs) {
        if (::wait4(pid_, nullptr, WNOHANG, &used_) != 0) {
          pid_ = -1;
          return;
        }
        ::usleep(1000);
      }
    }
  }

 private:
  static int open_new(const char* path) {
    return ::open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  }

  pid_t pid_ = -1;
  rusage used_{};
};

}  // namespace tracectl::bench
