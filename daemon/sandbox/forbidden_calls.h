// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include "daemon/base/result.h"

namespace tracectl {

// Forbids system calls for good, for this process, its threads and the programs that it executes: those by which
// CAP_SYS_PTRACE changes other processes, and those that change mounts, namespaces, clocks and the kernel's code. The
// daemon makes none of them. Its unit forbids these and more; the default profiles of container runtimes allow ptrace(2)
// for this capability. To be called while there is one thread. Also sets no_new_privs.
Status forbid_calls();

}  // namespace tracectl
