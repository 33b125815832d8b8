// SPDX-License-Identifier: BSD-2-Clause
//
// Reads trace files (docs/trace-file.md), whole ones and what a crash has left of one.
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

// What of a file could not be read. All 0: it is whole.
struct Damage {
  uint64_t bytes = 0;             // between blocks that could be found: of others, or none
  uint64_t unfinished_bytes = 0;  // behind the last block: it was being written
  uint64_t blocks = 0;            // whose bytes are not those that were written, or are gone,
  uint64_t records = 0;           //   and what they and malformed ones would have had
  uint64_t unknown = 0;           // blocks and records of kinds that only newer programs know
  uint64_t cut = 0;               // names and stacks that are longer than is read
  uint64_t no_room_bytes = 0;     // what is defined would take more memory than this
};

// [from, to) in ns since boot.
struct TimeRange {
  uint64_t from_ns = 0;
  uint64_t to_ns = UINT64_MAX;
};

// One thread at a time. Of a file it keeps what is defined, and where the events of a time are; of these it
// reads only the blocks that have some of the same time.
class Reader {
 public:
  // Looks for the file's blocks, and reads what they define. Another process may be writing the
  // file: what comes later is not seen.
  static Result<Reader> open(Fd file);

  // False ends the reading.
  using Take = std::function<bool(const StreamItem&)>;
  // The file's events in ts order. An error only where the file cannot be read at all: what is
  // damaged is left out, and counted.
  Status read(const TimeRange& range, const Take& take);

  const FileHeader& header() const { return header_; }
  uint64_t bytes() const { return size_; }
  uint64_t first_ns() const { return events_.first_ns(); }  // 0: it has no events
  uint64_t last_ns() const { return events_.last_ns(); }
  size_t most_arguments() const { return tables_.most_arguments(); }
  uint64_t blocks() const { return blocks_; }
  // Why it was written, in somebody's words; empty: nobody has said.
  const std::string& reason() const { return tables_.reason(); }
  // Whether all that is missing is told as lost. It is not of a file that is being written, nor of one whose
  // writer was killed: there the last item that is read is a loss of an unknown number. Files of writers that
  // did not tell an end are taken as they are.
  bool is_end_known() const { return !header_.tells_end || (ending_ && ending_->is_all_told); }
  // Why the recording ended before it was asked to; empty: it did not, or the file does not say.
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
  // Nothing where it is damaged, which is counted.
  Result<std::optional<std::string>> records_of(const Place& place);

  Fd file_;
  uint64_t size_ = 0;
  uint64_t blocks_ = 0;
  FileHeader header_;
  BlockIndex events_;
  DefinitionTables tables_;
  Damage damage_;
  std::optional<Ending> ending_;  // where the last block is one
};

}  // namespace tracectl::recording
