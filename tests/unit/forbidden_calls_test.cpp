// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/sandbox/forbidden_calls.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <functional>

namespace tracectl {
namespace {

// The error of a call in a process that has forbidden calls for itself, 0 if it has none.
int error_of(const std::function<long()>& call) {
  const pid_t pid = ::fork();
  if (pid == 0) {
    if (!forbid_calls()) ::_exit(ENOTRECOVERABLE);
    ::_exit(call() < 0 ? errno : 0);
  }
  int status = 0;
  EXPECT_EQ(::waitpid(pid, &status, 0), pid);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

long copy_of_own_memory(long number) {
  char from = 1, to = 0;
  const iovec local{&to, 1}, remote{&from, 1};
  return ::syscall(number, ::getpid(), &local, 1, &remote, 1, 0);
}

TEST(ForbiddenCalls, AttachToNoProcessAndWriteToNone) {
  EXPECT_EQ(error_of([] { return ::ptrace(PTRACE_TRACEME, 0, 0, 0); }), EPERM);
  EXPECT_EQ(error_of([] { return copy_of_own_memory(SYS_process_vm_writev); }), EPERM);
  EXPECT_EQ(error_of([] { return ::syscall(SYS_pidfd_getfd, -1, 0, 0); }), EPERM);
}

TEST(ForbiddenCalls, MakeNoNamespace) {
  EXPECT_EQ(error_of([] { return ::unshare(0); }), EPERM);
}

TEST(ForbiddenCalls, LeaveReadingAllowed) {
  EXPECT_EQ(error_of([] { return copy_of_own_memory(SYS_process_vm_readv); }), 0);
}

TEST(ForbiddenCalls, HoldInWhatIsExecuted) {
  EXPECT_EQ(error_of([] { return ::execlp("unshare", "unshare", "--mount", "true", nullptr); }), 1);
}

}  // namespace
}  // namespace tracectl
