// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/kernel/progress.h"

#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>

#include "daemon/kernel/kernel_types.h"
#include "daemon/kernel/own_code.h"
#include "daemon/kernel/uprobe_multi.h"

// Nobody calls this function, and only we probe it. It exists so that a probe can be removed from it.
asm(".pushsection .text\n"
    ".type tracectl_progress_site, %function\n"
    "tracectl_progress_site: nop\n ret\n"
    ".size tracectl_progress_site, . - tracectl_progress_site\n"
    ".popsection\n");
// Hidden, so that no entry of the global offset table is needed: those of aarch64 are by section, not by local symbol.
extern "C" __attribute__((visibility("hidden"))) const char tracectl_progress_site[];

namespace tracectl {
namespace {

bool membarrier_waits() {
  const long commands = ::syscall(SYS_membarrier, MEMBARRIER_CMD_QUERY, 0, 0);
  return commands > 0 && (commands & MEMBARRIER_CMD_GLOBAL) && ::sysconf(_SC_NPROCESSORS_ONLN) > 1;
}

Result<Fd> arm_own_probe(int program_fd) {
  auto own = own_code(tracectl_progress_site);
  if (!own) return own.error();
  const std::array<uint64_t, 1> offsets{own->offset};
  auto armed = arm_uprobes({.program_fd = program_fd,
                            .object_fd = own->file.get(),
                            .filter = ::getpid(),
                            .offsets = offsets});
  if (armed.empty())
    return Error::from_errno("arm the probe whose removal waits for thread progress");
  return std::move(armed.front());
}

}  // namespace

// Linux 6.12 made the removal of a uprobe wait for all handlers, and the list of a uprobe's consumers one that is read
// without a lock, in one change: "uprobes: travers uprobe's consumer list locklessly under SRCU protection".
bool removal_waits_for_all_hits() {
  static const bool waits = KernelTypes().has_member("uprobe_consumer", "cons_node");
  return waits;
}

// Chosen for each commit, because the number of online CPUs can change.
Status ProgressWait::prepare(Progress progress) {
  own_probe_.reset();
  if (membarrier_waits() && (progress == Progress::of_programs || !removal_waits_for_all_hits()))
    return ok();
  if (!removal_waits_for_all_hits())
    return Error{
        Code::unsupported,
        "this kernel has no way to wait for probes that are being hit: it needs more than one "
        "CPU online and no nohz_full, or Linux 6.12"};
  auto probe = arm_own_probe(program_fd_);
  if (!probe) return probe.error();
  own_probe_ = std::move(*probe);
  return ok();
}

void ProgressWait::wait() {
  if (own_probe_) return own_probe_.reset();
  ::syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0);
}

}  // namespace tracectl
