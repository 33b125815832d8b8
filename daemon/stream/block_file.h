// SPDX-License-Identifier: BSD-2-Clause
//
// A trace file that is being written, block after block. Used by the thread that waits for the disk.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "daemon/base/fd.h"
#include "daemon/base/result.h"
#include "daemon/recording/encoder.h"
#include "daemon/recording/format.h"

namespace tracectl {

// Whether a trace file can be written to this descriptor: of a regular file, open for writing, without O_APPEND.
Status check_writable(int file);

// The last block says that the file ends, and whether it reports all losses. Disk space for that block is reserved
// while the file grows, so that it can be written also on a full disk. If the file system cannot reserve space, a
// full disk leaves a file without an end, and readers report that its end is unknown.
class BlockFile {
 public:
  BlockFile(Fd file, recording::Compression compression)
      : file_(std::move(file)), compression_(compression) {}

  // Deletes the file's contents.
  Status empty();
  // Begins a new trace file.
  Status begin();
  Status append(recording::Block block);
  // Writes the end, and waits until the file is on the disk.
  Status finish();
  // Writes an end after the last complete block, in place of one that the file may have: as much of it as fits.
  void end_early(const Lost& lost, const recording::Ending& ending);
  bool is_begun() const { return end_ > 0; }
  // Closes the file, also if the recording's owner is still there.
  void close() { file_.reset(); }
  uint64_t bytes() const { return end_ + end_bytes_; }

 private:
  // The size of the end of a file. It is always the same, so that one end can overwrite another where there is no
  // room for more.
  static constexpr size_t kEndBytes = 512;

  // Reserves space for this many bytes and the end of the file.
  Status reserve(size_t bytes);
  Status put(recording::Block block, uint64_t& at);
  Status put_end(std::optional<Lost> lost, const recording::Ending& ending);
  Status write_at(uint64_t offset, std::string_view bytes);

  Fd file_;
  recording::Compression compression_;
  uint64_t id_ = 0;
  uint64_t end_ = 0;        // of the last block before those that end the file
  uint64_t end_bytes_ = 0;  // of those that end it
  bool can_reserve_ = true;
};

}  // namespace tracectl
