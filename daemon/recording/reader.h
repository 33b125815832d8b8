// SPDX-License-Identifier: BSD-2-Clause
//
// Reads trace files (docs/trace-file.md), also incomplete ones after a crash.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "daemon/base/fd.h"
#include "daemon/base/result.h"
#include "daemon/model/event.h"
#include "daemon/recording/blocks.h"
#include "daemon/recording/decoder.h"
#include "daemon/recording/format.h"

namespace tracectl::recording {

// The parts of a file that could not be read. All 0: the file is intact.
struct Damage {
  uint64_t bytes = 0;             // between blocks: of other files, or no blocks at all
  uint64_t unfinished_bytes = 0;  // after the last block: it was being written
  uint64_t blocks = 0;            // that are damaged, or have disappeared
  uint64_t records = 0;           // in those blocks and malformed ones
  uint64_t unknown = 0;           // blocks and records of kinds from newer versions
  uint64_t cut = 0;               // names and stacks that exceed the limits
  uint64_t no_room_bytes = 0;     // not 0: the limit of memory, which definitions exceed
};

// [from, to) in ns since boot.
struct TimeRange {
  uint64_t from_ns = 0;
  uint64_t to_ns = UINT64_MAX;
};

// Used by one thread at a time. Keeps a file's definitions, and an index of its events by time.
// Reads only blocks that have events of the same time.
class Reader {
 public:
  // Finds the file's blocks, and reads their definitions. Another process may be writing the file:
  // what it adds later is not seen.
  static Result<Reader> open(Fd file);

  // Returns false to stop reading.
  using Take = std::function<bool(const StreamItem&)>;
  // Passes on the file's events in ts order. Fails only if the file cannot be read at all: damaged
  // parts are skipped and counted.
  Status read(const TimeRange& range, const Take& take);

  const FileHeader& header() const { return header_; }
  uint64_t bytes() const { return size_; }
  uint64_t first_ns() const { return events_.first_ns(); }  // 0 if it has no events
  uint64_t last_ns() const { return events_.last_ns(); }
  size_t most_arguments() const { return tables_.most_arguments(); }
  uint64_t blocks() const { return blocks_; }
  // Why the file was written, as its author says; empty if it does not say.
  const std::string& reason() const { return tables_.reason(); }
  // Whether all losses are recorded as such. False if the file is still being written, or if its
  // writer was killed: then the last item is a loss of an unknown number. For files of older
  // writers, which write no end, it is true.
  bool is_end_known() const {
    return !header_.has_end_block || (ending_ && ending_->has_all_losses);
  }
  // Why the recording ended before it was stopped; empty if it did not, or if the file does not
  // say.
  std::string ended_early() const { return ending_ ? ending_->why : std::string{}; }
  const Damage& damage() const { return damage_; }

 private:
  class OpenBlock;
  class Merge;

  explicit Reader(Fd file) : file_(std::move(file)) {}
  Status find_blocks();
  Status add(const Place& place);
  Status define(const Place& place);
  Status end(const Place& place);
  // None if the block is damaged; counts the damage.
  Result<std::optional<std::string>> records_of(const Place& place);

  Fd file_;
  uint64_t size_ = 0;
  uint64_t blocks_ = 0;
  FileHeader header_;
  BlockIndex events_;
  DefinitionTables tables_;
  Damage damage_;
  std::optional<Ending> ending_;  // if the last block is of that kind
};

}  // namespace tracectl::recording
