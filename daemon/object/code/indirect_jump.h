// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "daemon/object/code/listing.h"

namespace tracectl {

// Fills `into` with the file's bytes from `address` on (in the file's own address space, and before
// relocation), and returns how many there were.
using ReadFile = std::function<size_t(uint64_t address, std::span<uint8_t> into)>;

enum class Leads {
  inside,   // to a place in the function: a switch, a computed goto
  outside,  // to a function through a pointer, if nothing is left on the stack
  unknown,
};

struct IndirectJump {
  Leads leads = Leads::unknown;
  std::vector<size_t> targets = {};  // steps; from the table, if it could be read
};

// The target of the jump through a register or memory at a step, from the code that computes it.
IndirectJump indirect_jump(const Listing& listing, size_t step, const ReadFile& read);

// Whether the jump at this address certainly leads to another function.
bool jump_leads_out(const Listing& listing, uint64_t address, const ReadFile& read);

}  // namespace tracectl
