// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include "daemon/base/result.h"

namespace tracectl {

// Takes from this process, its threads and what it executes, for good, the system calls by which CAP_SYS_PTRACE lets it
// change other processes, and those that change the machine. The daemon makes none of them. Its unit forbids these and
// more; the default profiles of container runtimes allow ptrace(2) for this capability. To be called while there is one
// thread. Also sets no_new_privs.
Status forbid_calls();

}  // namespace tracectl
