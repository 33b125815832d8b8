// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace tracectl {

// A table in memory shared with the programs, whose first entries are there from the start. Others are in chunks of
// the same length, which are made when they are first needed, in their order. It owns no memory.
template <class T> class ChunkedTable {
 public:
  explicit ChunkedTable(std::span<T> first, uint32_t of_chunk = 0)
      : first_(first), of_chunk_(of_chunk) {}

  // The entries that have memory: those with lower numbers.
  uint32_t size() const {
    return static_cast<uint32_t>(first_.size() + chunks_.size() * of_chunk_);
  }
  // The number of chunks that must be made for this to be the size, or more.
  uint32_t chunks_to_make(uint32_t wanted) const {
    return wanted <= size() ? 0 : (wanted - size() + of_chunk_ - 1) / of_chunk_;
  }
  void add_chunk(std::span<T> chunk) { chunks_.push_back(chunk); }

  // `number` must be below size().
  T& operator[](uint32_t number) const {
    if (number < first_.size()) return first_[number];
    const size_t after = number - first_.size();
    return chunks_[after / of_chunk_][after % of_chunk_];
  }

 private:
  std::span<T> first_;
  uint32_t of_chunk_;
  std::vector<std::span<T>> chunks_;
};

}  // namespace tracectl
