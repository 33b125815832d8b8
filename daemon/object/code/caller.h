// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <span>

namespace tracectl {

// Where the return address is at an offset of a function, given by its bytes, as long as the frame
// pointer is still the caller's. On x86-64 its distance from rsp, in words of 8 bytes; on arm64
// always 0: it is in x30. None if the function has made rbp or x29 its frame pointer by then, which
// leads to the caller, or changed x30, or if the code before the offset is not straight.
std::optional<unsigned> words_below_caller(std::span<const uint8_t> function, uint64_t offset);

}  // namespace tracectl
