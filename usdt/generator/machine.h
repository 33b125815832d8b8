// SPDX-License-Identifier: BSD-2-Clause
//
// What object files say of the machine. The folder of each machine defines it.
#pragma once

#include <cstdint>

namespace tracectl::generator {

uint16_t elf_machine();  // e_machine of ELF headers
uint32_t
property_of_features();  // of the note .note.gnu.property: which checks of branches the code allows

}  // namespace tracectl::generator
