// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

namespace tracectl::recording {

// The last values of the arguments of each source of a block.
class LastArguments {
 public:
  LastArguments() = default;
  LastArguments(LastArguments&&) = default;  // its members point to each other
  LastArguments& operator=(LastArguments&&) = default;

  // Those of the source with this number: `count` or more values. Valid until the next call.
  uint64_t* of(uint64_t source, size_t count) {
    // Most events have the same source as the one before.
    if (!last_ || source != last_source_) {
      last_ = &by_source_[source];
      last_source_ = source;
    }
    if (last_->size() < count) last_->resize(count);
    return last_->data();
  }

 private:
  std::unordered_map<uint64_t, std::vector<uint64_t>> by_source_;
  uint64_t last_source_ = 0;
  std::vector<uint64_t>* last_ = nullptr;
};

// The last values in the records of a block: the next record has only the differences. Each block
// starts with these defaults, so it can be decoded without earlier blocks.
struct LastValues {
  uint64_t ts_ns = 0;  // the block's first_ns
  uint64_t epoch = 0;
  uint64_t thread = 0, source = 0;  // their numbers; there is no number 0
  uint64_t call = 0, depth = 0;
  LastArguments arguments = {};
};

}  // namespace tracectl::recording
