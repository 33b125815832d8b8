// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/object/code/emulation.h"

namespace tracectl {

// The kernel itself emulates most of what stands at entries and exits here.
std::optional<tc_instruction> emulated_form(std::span<const uint8_t>, Standing, Emulates) {
  return std::nullopt;
}

}  // namespace tracectl
