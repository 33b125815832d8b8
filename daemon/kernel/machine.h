// SPDX-License-Identifier: BSD-2-Clause
//
// What the kernel and the processor say of the machine. The folder of each machine defines it.
#pragma once

#include <cstdint>

namespace tracectl {

uint32_t audit_architecture();  // what filters of system calls know the machine by (linux/audit.h)

uint8_t first_byte_of_breakpoint();  // of a uprobe's

// Whether this is a virtual machine, or may be one.
bool may_be_virtual_machine();

}  // namespace tracectl
