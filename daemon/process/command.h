// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <sys/types.h>

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "daemon/base/fd.h"
#include "daemon/base/result.h"

namespace tracectl {

// How a process ended: exactly one of the two.
struct Ending {
  std::optional<int> exit_code;
  std::optional<int> signal;

  bool operator==(const Ending&) const = default;
};

// A program started in a child, which waits before its execve. If the command was not released, its
// destructor kills the child; a released child runs on.
class Command {
 public:
  // `arguments` begin with the program, looked up in $PATH if it has no slash. SIGKILL is the
  // child's parent-death signal until it is released, so the thread that calls this must live until
  // then.
  static Result<Command> start(const std::vector<std::string>& arguments);

  Command(Command&&) noexcept = default;
  Command& operator=(Command&& other) noexcept;
  ~Command();

  const std::string& path() const { return path_; }  // absolute path of the program
  pid_t pid() const { return pid_; }
  int pidfd() const { return pidfd_.get(); }  // readable once the process has ended

  // Lets the child execute its program. Returns once it does, or with the reason why it cannot.
  Status release() { return release({}); }
  // `before_it_runs` is called after the execve and before the program's first instruction, if the
  // kernel lets a parent stop its child there (ptrace(2)) and the program gets no other rights from
  // its file, which it would lose under a tracer. Otherwise it is called when the program runs
  // already. Its error is returned, and the program runs nevertheless. Must be called by the thread
  // that started the command.
  Status release(const std::function<Status()>& before_it_runs);

  // Blocks until the process has ended; later calls return the same.
  Result<Ending> wait();

  // Sends SIGTERM, whether released or not.
  Status terminate();

 private:
  Command(std::string path, pid_t pid, Fd pidfd, Fd gate, Fd failure);
  void kill_if_waiting();
  bool stop_at_exec() const;
  bool wait_for_exec();

  std::string path_;
  pid_t pid_ = -1;
  Fd pidfd_;
  Fd gate_;     // a byte written here releases the child; none once released
  Fd failure_;  // the errno of a failed execve arrives here, or the end of the stream
  std::optional<Ending> ending_;
};

// The absolute path of what `program` starts: itself if it has a slash, else the first executable
// file of that name in $PATH.
Result<std::string> find_program(const std::string& program);

}  // namespace tracectl
