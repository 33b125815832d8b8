// SPDX-License-Identifier: BSD-2-Clause
//
// Finds the blocks of a trace file.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/base/result.h"
#include "daemon/recording/format.h"

namespace tracectl::recording {

// Reads up to `size` bytes; fewer at the end of the file.
Result<std::string> bytes_at(int file, uint64_t offset, size_t size);

struct Place {
  uint64_t offset;  // of the first byte after the header
  BlockHeader header;

  uint64_t begin() const { return offset - kBlockHeaderBytes; }
  uint64_t end() const { return offset + header.stored_bytes; }
};

// None if no block of the file with this id begins there.
Result<std::optional<Place>> block_at(int file, uint64_t file_id, uint64_t offset);

// Goes from block to block by their sizes. Where it finds no block, it searches for the next one.
class BlockScan {
 public:
  // For blocks in [begin, end) of the file with the id `file_id`.
  BlockScan(int file, uint64_t file_id, uint64_t begin, uint64_t end)
      : file_(file), file_id_(file_id), at_(begin), end_of_last_(begin), end_(end) {}

  Result<std::optional<Place>> next();
  uint64_t bytes_between() const { return bytes_between_; }  // between the blocks found
  uint64_t bytes_behind() const { return end_ - end_of_last_; }

 private:
  Status search();
  size_t header_in(std::string_view bytes) const;

  int file_;
  uint64_t file_id_;
  uint64_t at_;
  uint64_t end_of_last_;
  uint64_t end_;
  uint64_t bytes_between_ = 0;
};

// A part of the file with blocks of events, and their totals.
struct Stretch {
  uint64_t begin, end;
  uint64_t first_ns, last_ns;
  uint64_t blocks, records;
};

// Shows which parts of the file have events of a time. Its size is bounded by the file's size, not
// by the number of blocks: an index of every block would be larger than memory if blocks have a few
// bytes each.
class BlockIndex {
 public:
  // Call it in the order of the file.
  void add(const Place& events);
  const std::vector<Stretch>& stretches() const { return stretches_; }
  uint64_t first_ns() const;  // 0 if there are no events
  uint64_t last_ns() const;

 private:
  std::vector<Stretch> stretches_;
};

}  // namespace tracectl::recording
