// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

namespace tracectl::recording {

// What the records of a block so far have had: the next one says only in what it differs. Each
// block begins with these values, so it can be read without those before it.
struct LastValues {
  uint64_t ts_ns = 0;  // the block's first_ns
  uint64_t epoch = 0;
  uint64_t thread = 0, source = 0;  // their numbers; there is no number 0
  uint64_t call = 0, depth = 0;
  std::unordered_map<uint64_t, std::vector<uint64_t>> arguments = {};  // by source
};

}  // namespace tracectl::recording
