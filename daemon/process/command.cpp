// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/process/command.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string_view>

namespace tracectl {
namespace {

struct Pipe {
  Fd read;
  Fd write;

  static Result<Pipe> make() {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) return Error::from_errno("make a pipe");
    return Pipe{Fd{ends[0]}, Fd{ends[1]}};
  }
};

// Blocks all signals while this lives.
class BlockedSignals {
 public:
  BlockedSignals() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~BlockedSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  BlockedSignals(const BlockedSignals&) = delete;
  BlockedSignals& operator=(const BlockedSignals&) = delete;

 private:
  sigset_t before_;
};

// Everything the child needs, prepared before the fork: after it, with other threads in the parent,
// only async-signal-safe calls are allowed.
struct Start {
  const char* path;
  char* const* arguments;
  int gate;
  int failure;
  pid_t parent;
};

void reset_signals() {
  struct sigaction standard {};
  standard.sa_handler = SIG_DFL;
  for (int number = 1; number < NSIG; ++number) sigaction(number, &standard, nullptr);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
}

bool wait_for_release(int gate) {
  char byte = 0;
  ssize_t got = 0;
  do got = read(gate, &byte, 1);
  while (got < 0 && errno == EINTR);
  return got == 1;
}

[[noreturn]] void become(const Start& start) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != start.parent) _exit(127);  // the parent ended before the line above
  reset_signals();
  if (!wait_for_release(start.gate)) _exit(127);
  prctl(PR_SET_PDEATHSIG, 0);
  execve(start.path, start.arguments, environ);
  int err = errno;
  // If this fails, nobody is left to report to.
  [[maybe_unused]] ssize_t reported = write(start.failure, &err, sizeof err);
  _exit(127);
}

Status check_runnable(const std::string& path) {
  struct stat found {};
  if (stat(path.c_str(), &found) != 0) return Error::from_errno("run " + path);
  if (!S_ISREG(found.st_mode) || access(path.c_str(), X_OK) != 0)
    return Error{Code::denied, "run " + path + ": it is no file that may be executed"};
  return ok();
}

std::string absolute(const std::string& path) {
  std::error_code ignored;
  auto whole = std::filesystem::absolute(path, ignored);
  return ignored ? path : whole.lexically_normal().string();
}

std::vector<std::string> search_path() {
  const char* value = std::getenv("PATH");
  std::string_view rest = value != nullptr ? value : "/usr/local/bin:/usr/bin:/bin";
  std::vector<std::string> folders;
  for (;;) {
    size_t colon = rest.find(':');
    auto folder = rest.substr(0, colon);
    folders.emplace_back(folder.empty() ? "." : folder);
    if (colon == std::string_view::npos) return folders;
    rest.remove_prefix(colon + 1);
  }
}

Ending ending_of(const siginfo_t& info) {
  if (info.si_code == CLD_EXITED) return Ending{.exit_code = info.si_status, .signal = {}};
  return Ending{.exit_code = {}, .signal = info.si_status};
}

Status write_byte(const Fd& fd) {
  // The reader may have ended, and SIGPIPE must not end this process.
  BlockedSignals quiet;
  if (write(fd.get(), "", 1) == 1) return ok();
  int err = errno;
  if (err == EPIPE) {
    sigset_t broken;
    sigemptyset(&broken);
    sigaddset(&broken, SIGPIPE);
    timespec now{};
    sigtimedwait(&broken, nullptr, &now);
  }
  return Error::from_errno("release the command", err);
}

}  // namespace

Result<std::string> find_program(const std::string& program) {
  if (program.empty()) return Error{Code::invalid, "the command is empty; name a program"};
  if (program.find('/') != std::string::npos) {
    if (auto runnable = check_runnable(program); !runnable) return runnable.error();
    return absolute(program);
  }
  for (const std::string& folder : search_path()) {
    std::string path = folder + "/" + program;
    if (check_runnable(path)) return absolute(path);
  }
  return Error{Code::not_found, "no program " + program + " in $PATH"};
}

Command::Command(std::string path, pid_t pid, Fd pidfd, Fd gate, Fd failure)
    : path_(std::move(path)),
      pid_(pid),
      pidfd_(std::move(pidfd)),
      gate_(std::move(gate)),
      failure_(std::move(failure)) {}

Command& Command::operator=(Command&& other) noexcept {
  kill_if_waiting();
  path_ = std::move(other.path_);
  pid_ = other.pid_;
  pidfd_ = std::move(other.pidfd_);
  gate_ = std::move(other.gate_);
  failure_ = std::move(other.failure_);
  ending_ = other.ending_;
  return *this;
}

Command::~Command() { kill_if_waiting(); }

void Command::kill_if_waiting() {
  if (!gate_ || !pidfd_ || ending_) return;
  syscall(SYS_pidfd_send_signal, pidfd_.get(), SIGKILL, nullptr, 0);
  siginfo_t info{};
  while (waitid(P_PIDFD, static_cast<id_t>(pidfd_.get()), &info, WEXITED) != 0 && errno == EINTR) {}
  gate_.reset();
}

Result<Command> Command::start(const std::vector<std::string>& arguments) {
  if (arguments.empty()) return Error{Code::invalid, "there is no command to start"};
  auto path = find_program(arguments.front());
  if (!path) return path.error();
  auto gate = Pipe::make();
  if (!gate) return gate.error();
  auto failure = Pipe::make();
  if (!failure) return failure.error();
  std::vector<char*> pointers;
  for (const std::string& argument : arguments)
    pointers.push_back(const_cast<char*>(argument.c_str()));
  pointers.push_back(nullptr);
  Start start{path->c_str(), pointers.data(), gate->read.get(), failure->write.get(), getpid()};

  // No handlers of the parent may run in the child.
  BlockedSignals blocked;
  pid_t pid = fork();
  if (pid < 0) return Error::from_errno("start " + *path);
  if (pid == 0) {
    close(gate->write.get());
    become(start);
  }
  Fd pidfd{static_cast<int>(syscall(SYS_pidfd_open, pid, 0))};
  if (!pidfd) {
    int err = errno;
    kill(pid, SIGKILL);
    waitpid(pid, nullptr, 0);
    return Error::from_errno("hold " + *path, err);
  }
  return Command{std::move(*path), pid, std::move(pidfd), std::move(gate->write),
                 std::move(failure->read)};
}

// A program that is set-user-ID or set-group-ID, or has capabilities by its file, would run without
// these under a tracer.
bool Command::stop_at_exec() const {
  struct stat file {};
  if (::stat(path_.c_str(), &file) != 0 || file.st_mode & (S_ISUID | S_ISGID)) return false;
  if (::getxattr(path_.c_str(), "security.capability", nullptr, 0) > 0) return false;
  return ::ptrace(PTRACE_SEIZE, pid_, 0, PTRACE_O_TRACEEXEC) == 0;
}

// Returns false if it has ended before. Signals that arrive meanwhile are passed on to it.
bool Command::wait_for_exec() {
  for (;;) {
    int status = 0;
    if (::waitpid(pid_, &status, __WALL) < 0) {
      if (errno == EINTR) continue;
      return false;
    }
    if (WIFEXITED(status)) ending_ = Ending{.exit_code = WEXITSTATUS(status), .signal = {}};
    if (WIFSIGNALED(status)) ending_ = Ending{.exit_code = {}, .signal = WTERMSIG(status)};
    if (ending_) return false;
    if (status >> 8 == (SIGTRAP | PTRACE_EVENT_EXEC << 8)) return true;
    const bool is_signal = status >> 16 == 0;
    ::ptrace(PTRACE_CONT, pid_, 0, is_signal ? WSTOPSIG(status) : 0);
  }
}

Status Command::release(const std::function<Status()>& before_it_runs) {
  if (!gate_) return Error{Code::invalid, path_ + " has been released already"};
  const bool stops = before_it_runs && stop_at_exec();
  if (auto written = write_byte(gate_); !written) return written.error().in(path_);
  gate_.reset();
  const bool has_stopped = stops && wait_for_exec();
  int err = 0;
  ssize_t got = 0;
  do got = read(failure_.get(), &err, sizeof err);
  while (got < 0 && errno == EINTR);
  failure_.reset();
  if (got != 0) {
    if (auto ended = wait(); !ended) return ended.error();
    return Error::from_errno("execute " + path_, err);
  }
  if (!before_it_runs || ending_) return ok();
  auto done = before_it_runs();
  if (has_stopped) ::ptrace(PTRACE_DETACH, pid_, 0, 0);
  return done;
}

Result<Ending> Command::wait() {
  if (ending_) return *ending_;
  siginfo_t info{};
  while (waitid(P_PIDFD, static_cast<id_t>(pidfd_.get()), &info, WEXITED) != 0)
    if (errno != EINTR) return Error::from_errno("wait for " + path_);
  ending_ = ending_of(info);
  return *ending_;
}

Status Command::terminate() {
  if (ending_) return ok();
  if (syscall(SYS_pidfd_send_signal, pidfd_.get(), SIGTERM, nullptr, 0) != 0 && errno != ESRCH)
    return Error::from_errno("terminate " + path_);
  return ok();
}

}  // namespace tracectl
