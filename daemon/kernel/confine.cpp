// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/kernel/confine.h"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <limits>

#include "daemon/kernel/machine.h"

namespace tracectl {
namespace {

// The parent handles signals of the terminal. A fault still ends this process.
void block_signals() {
  sigset_t all;
  ::sigfillset(&all);
  ::sigprocmask(SIG_SETMASK, &all, nullptr);
}

}  // namespace

// A filter, because a process that already has a filter cannot enter the strict mode of seccomp; ours may have
// one from systemd or from its container.
int filter_system_calls() {
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return errno;
  std::array<sock_filter, 8> code{{
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, arch)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, audit_architecture(), 0, 4),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_read, 3, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_write, 2, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit, 1, 0),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  }};
  const sock_fprog filter{.len = code.size(), .filter = code.data()};
  return ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0 ? 0 : errno;
}

int confine(int fd, pid_t parent) {
  block_signals();
  if (fd != 0 && ::dup2(fd, 0) != 0) return errno;
  if (::close_range(1, std::numeric_limits<unsigned>::max(), 0) != 0) return errno;
  if (::prctl(PR_SET_PDEATHSIG, SIGKILL) != 0) return errno;
  if (::getppid() != parent) return ESRCH;             // it had already ended
  if (::prctl(PR_SET_DUMPABLE, 0) != 0) return errno;  // no core file of a copy of our memory
  return filter_system_calls();
}

}  // namespace tracectl
