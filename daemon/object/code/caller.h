// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <span>

namespace tracectl {

// The distance of the return address from rsp, in words of 8 bytes, at an offset of a function,
// given by its bytes. None if the function has made rbp its frame pointer by then, which leads to
// the caller, or if the code before the offset is not straight.
std::optional<unsigned> words_below_caller(std::span<const uint8_t> function, uint64_t offset);

}  // namespace tracectl
