// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <memory>

#include "daemon/kernel/kernel.h"

namespace tracectl {

struct KernelOptions {
  // Probes on 5-byte nops become calls, even if this kernel then crashes children that a traced program
  // forks. The user guarantees that no traced program forks while it is traced.
  bool fast_nops = false;
  // Hits at sites of Way::sleeping may wait for absent memory. If false, that way is served like Way::entry.
  bool sleeps = true;
  // For the sessions of one command, which load only what they need: the program that only counts is loaded
  // at once, for Way::counting, and that of Way::entry when a site needs it.
  bool for_one_command = false;
  // The store in which a former daemon may have left its tables. Borrowed: it must outlive the kernel.
  DescriptorStore* store = nullptr;
};

// Loads the programs and returns the real kernel. Needs CAP_BPF and CAP_PERFMON.
Result<std::unique_ptr<Kernel>> open_kernel(const KernelOptions& options = {});

}  // namespace tracectl
