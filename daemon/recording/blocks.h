// SPDX-License-Identifier: BSD-2-Clause
//
// Where the blocks of a trace file are.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/base/result.h"
#include "daemon/recording/format.h"

namespace tracectl::recording {

// As many as there are, up to `size`.
Result<std::string> bytes_at(int file, uint64_t offset, size_t size);

struct Place {
  uint64_t offset;  // of what follows the header
  BlockHeader header;

  uint64_t begin() const { return offset - kBlockHeaderBytes; }
  uint64_t end() const { return offset + header.stored_bytes; }
};

// Nothing where no block of the file with this number begins.
Result<std::optional<Place>> block_at(int file, uint64_t file_id, uint64_t offset);

// Goes from block to block by their sizes; where none stands it searches for the next.
class BlockScan {
 public:
  // Blocks that lie in [begin, end) of the file, whose number is `file_id`.
  BlockScan(int file, uint64_t file_id, uint64_t begin, uint64_t end)
      : file_(file), file_id_(file_id), at_(begin), end_of_last_(begin), end_(end) {}

  Result<std::optional<Place>> next();
  uint64_t bytes_between() const { return bytes_between_; }  // blocks that were found
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

// A part of the file with blocks of events, and what it has of them.
struct Stretch {
  uint64_t begin, end;
  uint64_t first_ns, last_ns;
  uint64_t blocks, records;
};

// Where to look for the events of a time. Its size is by the file's, not by how many blocks that has:
// a file of blocks of a few bytes would have an index larger than memory.
class BlockIndex {
 public:
  // In the order of the file.
  void add(const Place& events);
  const std::vector<Stretch>& stretches() const { return stretches_; }
  uint64_t first_ns() const;  // 0: there are no events
  uint64_t last_ns() const;

 private:
  std::vector<Stretch> stretches_;
};

}  // namespace tracectl::recording
