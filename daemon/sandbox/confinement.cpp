// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/sandbox/confinement.h"

#include <fcntl.h>
#include <linux/capability.h>
#include <seccomp.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <limits>
#include <memory>

namespace tracectl {
namespace {

int limit(__rlimit_resource_t what, rlim_t most) {
  const rlimit limits{most, most};
  return ::setrlimit(what, &limits) == 0 ? 0 : errno;
}

// No core files of what was read, and limited memory.
int set_limits() {
  if (const int err = limit(RLIMIT_CORE, 0)) return err;
  if (const int err = limit(RLIMIT_FSIZE, 0)) return err;
  return limit(RLIMIT_AS, kMostReadingMemory);
}

// If memory runs out nevertheless, the kernel should kill this process first.
void be_first_to_go() {
  const int fd = ::open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
  if (fd < 0) return;
  (void)!::write(fd, "1000", 4);
  ::close(fd);
}

// Changes to a root directory without files, if permitted. Opening by name is forbidden anyway.
void leave_files_behind() {
  if (::chroot("/proc/self/fdinfo") == 0) (void)!::chdir("/");
}

int drop_capabilities() {
  __user_cap_header_struct header{.version = _LINUX_CAPABILITY_VERSION_3, .pid = 0};
  const std::array<__user_cap_data_struct, 2> none{};
  return ::syscall(SYS_capset, &header, none.data()) == 0 ? 0 : errno;
}

// ---- system calls ----

constexpr std::array kAllowed{SCMP_SYS(read),       SCMP_SYS(pread64),      SCMP_SYS(lseek),
                              SCMP_SYS(fstat),      SCMP_SYS(newfstatat),   SCMP_SYS(close),
                              SCMP_SYS(recvmsg),    SCMP_SYS(sendmsg),      SCMP_SYS(munmap),
                              SCMP_SYS(brk),        SCMP_SYS(madvise),      SCMP_SYS(futex),
                              SCMP_SYS(exit_group), SCMP_SYS(exit),         SCMP_SYS(clock_gettime),
                              SCMP_SYS(getrandom),  SCMP_SYS(rt_sigreturn), SCMP_SYS(sysinfo)};

// Libraries try these, and do without.
constexpr std::array kRefused{SCMP_SYS(open),      SCMP_SYS(openat),   SCMP_SYS(access),
                              SCMP_SYS(faccessat), SCMP_SYS(readlink), SCMP_SYS(readlinkat)};

struct Release {
  void operator()(void* filter) const { seccomp_release(filter); }
};
using Filter = std::unique_ptr<void, Release>;

template <class Calls> int add(const Filter& filter, uint32_t action, const Calls& calls) {
  for (const int call : calls)
    if (const int err = seccomp_rule_add(filter.get(), action, call, 0)) return -err;
  return 0;
}

int allow_memory(const Filter& filter) {
  constexpr unsigned kProtection = 2;  // index of the argument
  for (const int call : {SCMP_SYS(mmap), SCMP_SYS(mprotect)})
    if (const int err = seccomp_rule_add(filter.get(), SCMP_ACT_ALLOW, call, 1,
                                         SCMP_CMP(kProtection, SCMP_CMP_MASKED_EQ, PROT_EXEC, 0)))
      return -err;
  return -seccomp_rule_add(filter.get(), SCMP_ACT_ALLOW, SCMP_SYS(mremap), 0);
}

// Libraries duplicate descriptors, and ask whether they are open.
int allow_duplicates(const Filter& filter) {
  constexpr unsigned kCommand = 1;  // index of the argument
  for (const scmp_datum_t command : {F_DUPFD_CLOEXEC, F_GETFD})
    if (const int err = seccomp_rule_add(filter.get(), SCMP_ACT_ALLOW, SCMP_SYS(fcntl), 1,
                                         SCMP_CMP(kCommand, SCMP_CMP_EQ, command)))
      return -err;
  return 0;
}

int filter_system_calls() {
  const Filter filter{seccomp_init(SCMP_ACT_KILL_PROCESS)};
  if (!filter) return ENOMEM;
  if (const int err = add(filter, SCMP_ACT_ALLOW, kAllowed)) return err;
  if (const int err = add(filter, SCMP_ACT_ERRNO(EACCES), kRefused)) return err;
  if (const int err = allow_memory(filter)) return err;
  if (const int err = allow_duplicates(filter)) return err;
  return -seccomp_load(filter.get());
}

}  // namespace

int confine_reading() {
  (void)::prctl(PR_SET_NAME, "tracectld-read");
  be_first_to_go();
  leave_files_behind();
  if (::close_range(1, std::numeric_limits<unsigned>::max(), 0) != 0) return errno;
  if (::prctl(PR_SET_PDEATHSIG, SIGKILL) != 0) return errno;
  if (::prctl(PR_SET_DUMPABLE, 0) != 0) return errno;
  if (const int err = set_limits()) return err;
  if (const int err = drop_capabilities()) return err;
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return errno;
  return filter_system_calls();
}

}  // namespace tracectl
