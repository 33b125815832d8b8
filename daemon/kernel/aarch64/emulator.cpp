// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/kernel/emulator.h"

namespace tracectl {

class EmulatedPlaces {};

Result<std::unique_ptr<Emulator>> Emulator::open() {
  return Error{Code::unsupported, "instructions are emulated on x86-64 only"};
}

Emulator::~Emulator() = default;

Emulator::Armed Emulator::arm(int, pid_t, std::span<const Place>) { return nullptr; }
std::shared_ptr<const void> Emulator::leave_to_kernel(int) { return nullptr; }

}  // namespace tracectl
