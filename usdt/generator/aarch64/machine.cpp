// SPDX-License-Identifier: BSD-2-Clause
#include "usdt/generator/machine.h"

#include <elf.h>

namespace tracectl::generator {

uint16_t elf_machine() { return EM_AARCH64; }

// GNU_PROPERTY_AARCH64_FEATURE_1_AND: the psABI supplement of AArch64.
uint32_t property_of_features() { return 0xc0000000; }

}  // namespace tracectl::generator
