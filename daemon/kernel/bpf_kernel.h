// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <memory>

#include "daemon/kernel/kernel.h"

namespace tracectl {

struct KernelOptions {
  // Whoever traces vouches that no traced program forks while it is traced: probes on 5-byte nops
  // become calls, whatever this kernel does to children.
  bool fast_nops = false;
  // Hits may wait for memory that is not there: Way::sleeping. Else that serves as Way::entry does.
  bool sleeps = true;
  // For the sessions of one command, which wait for no more than they need: the program that only counts is
  // loaded at once and serves as Way::counting, that of Way::entry when a site needs it.
  bool for_one_command = false;
  // Where a former daemon may have left its tables. Borrowed: it outlives the kernel.
  DescriptorStore* store = nullptr;
};

// Loads the programs and stands behind the door for real. Needs CAP_BPF and CAP_PERFMON.
Result<std::unique_ptr<Kernel>> open_kernel(const KernelOptions& options = {});

}  // namespace tracectl
