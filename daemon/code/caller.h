// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <span>

namespace tracectl {

// By how many words of 8 bytes the return address lies above rsp at an offset of a function, given
// by its bytes. None where the function has made rbp its frame pointer by then, from which the
// caller is found, and where the code before the offset is not straight.
std::optional<unsigned> words_below_caller(std::span<const uint8_t> function, uint64_t offset);

}  // namespace tracectl
