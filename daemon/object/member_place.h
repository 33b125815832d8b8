// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <optional>

#include "daemon/object/die.h"

namespace tracectl {

// Where a member or a base class lies in the struct around it.
struct MemberPlace {
  uint64_t first_bit = 0;
  uint64_t bit_count = 0;  // 0: it is no bit field
};

// None if it has no fixed place, as a virtual base, or an absurd one.
std::optional<MemberPlace> place_of_member(const dwarf::Die& member);

// Whether it lies in the struct at all, unlike a static member.
bool is_in_struct(const dwarf::Die& member);

}  // namespace tracectl
