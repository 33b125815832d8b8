// SPDX-License-Identifier: BSD-2-Clause
//
// A trace file that is being written, block behind block. Used by the thread that waits for the disk.
#pragma once

#include <cstdint>
#include <string_view>

#include "daemon/base/fd.h"
#include "daemon/base/result.h"
#include "daemon/recording/encoder.h"
#include "daemon/recording/format.h"

namespace tracectl {

// Whether trace files can be written there: it is to be regular and open for writing, without O_APPEND.
Status check_writable(int file);

class BlockFile {
 public:
  BlockFile(Fd file, recording::Compression compression)
      : file_(std::move(file)), compression_(compression) {}

  // Gone is what was there.
  Status empty();
  // A file of its own.
  Status begin();
  Status append(recording::Block block);
  // On the disk.
  Status finish();
  // Whoever knows of the recording still does not keep the file.
  void close() { file_.reset(); }
  uint64_t bytes() const { return end_; }

 private:
  Status write_at(uint64_t offset, std::string_view bytes);

  Fd file_;
  recording::Compression compression_;
  uint64_t id_ = 0;
  uint64_t end_ = 0;
};

}  // namespace tracectl
