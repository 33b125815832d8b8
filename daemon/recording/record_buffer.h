// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <string>

#include "daemon/base/bytes.h"
#include "daemon/recording/format.h"

namespace tracectl::recording {

// The records of a block that is being made, each after its length. A record is written in place:
//
//   PlaceWriter to = records.begin(most_bytes);
//   to.varint(...);
//   records.end(to);
class RecordBuffer {
 public:
  PlaceWriter begin(size_t most_bytes) {
    if (const size_t needed = used_ + kMostVarintBytes + most_bytes; needed > bytes_.size())
      bytes_.resize(std::max(needed, kBlockBytes + kOfAFewRecords));
    return PlaceWriter(bytes_.data() + used_ + kShortLength);
  }
  // Returns the size of the record with its length.
  size_t end(PlaceWriter record) {
    char* const begin = bytes_.data() + used_;
    const auto size = static_cast<size_t>(record.at() - begin) - kShortLength;
    const size_t length_size = size < 0x80 ? kShortLength : make_room_for_length(begin, size);
    PlaceWriter(begin).varint(size);
    used_ += length_size + size;
    return length_size + size;
  }
  size_t size() const { return used_; }
  // Empties it. Returns a copy, so that memory for a whole block is allocated once.
  std::string take() {
    std::string records(bytes_, 0, used_);
    used_ = 0;
    return records;
  }

 private:
  static constexpr size_t kShortLength = 1;  // size of the length of most records
  static constexpr size_t kOfAFewRecords = 4096;

  // Moves the record, which was written after room for a short length. Returns the size of the
  // length.
  static size_t make_room_for_length(char* begin, size_t size) {
    const size_t length_size = varint_bytes(size);
    std::memmove(begin + length_size, begin + kShortLength, size);
    return length_size;
  }

  std::string bytes_;
  size_t used_ = 0;
};

}  // namespace tracectl::recording
