// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/kernel/machine.h"

#include <linux/audit.h>

namespace tracectl {

uint32_t audit_architecture() { return AUDIT_ARCH_AARCH64; }

uint8_t first_byte_of_breakpoint() { return 0xa0; }  // brk #5

// Programs cannot see it.
bool may_be_virtual_machine() { return true; }

}  // namespace tracectl
