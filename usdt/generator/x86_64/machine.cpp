// SPDX-License-Identifier: BSD-2-Clause
#include "usdt/generator/machine.h"

#include <elf.h>

namespace tracectl::generator {

uint16_t elf_machine() { return EM_X86_64; }

// GNU_PROPERTY_X86_FEATURE_1_AND: the psABI supplement of x86-64, "Program Property".
uint32_t property_of_features() { return 0xc0000002; }

}  // namespace tracectl::generator
