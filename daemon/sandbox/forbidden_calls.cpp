// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/sandbox/forbidden_calls.h"

#include <seccomp.h>

#include <array>
#include <cerrno>
#include <memory>

namespace tracectl {
namespace {

constexpr std::array kForbidden{
    // Other processes: their memory, threads and descriptors.
    SCMP_SYS(ptrace), SCMP_SYS(process_vm_writev), SCMP_SYS(process_madvise), SCMP_SYS(pidfd_getfd),
    SCMP_SYS(kcmp),
    // Namespaces and mounts.
    SCMP_SYS(setns), SCMP_SYS(unshare), SCMP_SYS(pivot_root), SCMP_SYS(mount), SCMP_SYS(umount2),
    SCMP_SYS(mount_setattr), SCMP_SYS(move_mount), SCMP_SYS(open_tree), SCMP_SYS(fsopen),
    SCMP_SYS(fsconfig), SCMP_SYS(fsmount), SCMP_SYS(fspick),
    // The machine as a whole.
    SCMP_SYS(reboot), SCMP_SYS(swapon), SCMP_SYS(swapoff), SCMP_SYS(sethostname),
    SCMP_SYS(setdomainname), SCMP_SYS(settimeofday), SCMP_SYS(clock_settime),
    SCMP_SYS(clock_adjtime), SCMP_SYS(acct),
    // The kernel's code, and parts of it that are attacked most.
    SCMP_SYS(init_module), SCMP_SYS(finit_module), SCMP_SYS(delete_module), SCMP_SYS(kexec_load),
    SCMP_SYS(kexec_file_load), SCMP_SYS(io_uring_setup), SCMP_SYS(io_uring_enter),
    SCMP_SYS(io_uring_register), SCMP_SYS(userfaultfd), SCMP_SYS(add_key), SCMP_SYS(request_key),
    SCMP_SYS(keyctl)};

struct ReleaseForbidden {
  void operator()(void* filter) const { seccomp_release(filter); }
};

}  // namespace

Status forbid_calls() {
  const std::unique_ptr<void, ReleaseForbidden> filter{seccomp_init(SCMP_ACT_ALLOW)};
  if (!filter) return Error::from_errno("make a filter of system calls", ENOMEM);
  for (const int call : kForbidden)
    if (const int err = seccomp_rule_add(filter.get(), SCMP_ACT_ERRNO(EPERM), call, 0); err != 0)
      return Error::from_errno("forbid system calls", -err);
  if (const int err = seccomp_load(filter.get()); err != 0)
    return Error::from_errno("load the filter of system calls", -err);
  return ok();
}

}  // namespace tracectl
