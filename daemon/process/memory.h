// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "daemon/base/fd.h"
#include "daemon/base/result.h"
#include "daemon/process/process.h"

namespace tracectl {

struct MemoryRange {
  uint64_t address = 0;
  size_t size_bytes = 0;  // at most kMaxReadBytes
};

constexpr size_t kMaxReadBytes = 64 << 20;

// Reads the whole range or fails.
Result<std::vector<uint8_t>> read_memory(const Process& process, uint64_t address,
                                         size_t size_bytes);

// The same for many ranges; opens the memory once. One result for each range, in order. The outer
// error is that the memory could not be opened.
Result<std::vector<Result<std::vector<uint8_t>>>> read_memory(const Process& process,
                                                              std::span<const MemoryRange> ranges);

}  // namespace tracectl
