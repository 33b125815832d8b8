// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/kernel/machine.h"

#include <cpuid.h>
#include <linux/audit.h>

namespace tracectl {

uint32_t audit_architecture() { return AUDIT_ARCH_X86_64; }

uint8_t first_byte_of_breakpoint() { return 0xcc; }  // int3

// Hypervisors announce themselves by a bit that no processor sets (Intel SDM, CPUID leaf 1, ECX 31).
bool may_be_virtual_machine() {
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
  return __get_cpuid(1, &eax, &ebx, &ecx, &edx) && ecx >> 31;
}

}  // namespace tracectl
