// SPDX-License-Identifier: BSD-2-Clause
//
// A trace file that is being written, block behind block. Used by the thread that waits for the disk.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "daemon/base/fd.h"
#include "daemon/base/result.h"
#include "daemon/recording/encoder.h"
#include "daemon/recording/format.h"

namespace tracectl {

// Whether trace files can be written there: it is to be regular and open for writing, without O_APPEND.
Status check_writable(int file);

// The file ends with a block that says so, and whether all that is missing is told. While there is more to
// come room for that is kept, so that it can be written also where the disk is full; where the file system
// keeps none, a full disk leaves a file without an end, of which readers say that it is unknown.
class BlockFile {
 public:
  BlockFile(Fd file, recording::Compression compression)
      : file_(std::move(file)), compression_(compression) {}

  // Gone is what was there.
  Status empty();
  // A file of its own.
  Status begin();
  Status append(recording::Block block);
  // With an end, and on the disk.
  Status finish();
  // Behind what has been appended whole, in place of an end that it may have: as much as can be written.
  void end_early(const Lost& lost, const recording::Ending& ending);
  bool is_begun() const { return end_ > 0; }
  // Whoever knows of the recording still does not keep the file.
  void close() { file_.reset(); }
  uint64_t bytes() const { return end_ + end_bytes_; }

 private:
  // Of all that stands behind the last block while the file has an end: the same always, so that one can be
  // written over another where there is no room for more.
  static constexpr size_t kEndBytes = 512;

  // For so many bytes and the end of the file behind them.
  Status reserve(size_t bytes);
  Status put(recording::Block block, uint64_t& at);
  Status put_end(std::optional<Lost> lost, const recording::Ending& ending);
  Status write_at(uint64_t offset, std::string_view bytes);

  Fd file_;
  recording::Compression compression_;
  uint64_t id_ = 0;
  uint64_t end_ = 0;        // of the last block, but those that end the file
  uint64_t end_bytes_ = 0;  // of these
  bool can_reserve_ = true;
};

}  // namespace tracectl
