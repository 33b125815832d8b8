// SPDX-License-Identifier: BSD-2-Clause
//
// The client's part of a recording: it opens the files, with its user's rights, and waits until the engine
// has written them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "client/connection/backend.h"
#include "client/options/options.h"
#include "client/options/size.h"
#include "client/output/output.h"
#include "daemon/base/fd.h"

namespace tracectl {

// The trace file of a recording; with a size, several numbered files that are filled in turn.
struct RecordTo {
  std::string file;
  bool compress = false;
  std::optional<uint64_t> rotate_bytes = {};
  uint64_t keep = 4;
};

// Opens a file for the engine to write, and creates it if necessary; old contents are kept. An error also if
// something is being written to it: the lock passes to the writer with the descriptor.
Result<Fd> open_to_write(const std::string& name);

class RecordedFile {
 public:
  // Old contents are kept until the engine writes, when nothing can be refused any more.
  static Result<RecordedFile> open(const RecordTo& to);
  // From now on the session's events are written to the files.
  Status start(Backend& backend, const std::string& session);

 private:
  explicit RecordedFile(const RecordTo& to) : to_(to) {}

  RecordTo to_;
  std::vector<Fd> files_;
};

// The progress of a recording, which is shown if standard error is a terminal.
class RecordingProgress {
 public:
  static constexpr int kEveryMs = 250;

  RecordingProgress(const CommonOptions& common, Backend& backend, std::string session);

  // An error once the recording has failed.
  Result<bool> look();
  // Ends the recording, and waits until it is written, or for ^C.
  Result<protocol::RecordingPart> end();
  void clear();

 private:
  Result<protocol::RecordingPart> ask();
  void report(const protocol::RecordingPart& part);

  Backend& backend_;
  const std::string session_;
  const bool is_seen_;
  bool has_line_ = false;
};

// For a RecordingPart or DumpPart: "12 events, 3 lost, 4.5 KiB".
template <class Part> std::string in_file_text(const Part& part) {
  return plural(part.events, "event") + ", " + std::to_string(part.lost) + " lost, " +
         size_text(part.bytes);
}

// "out.tct: 12 events, 3 lost, 4.5 KiB"
std::string recording_text(const RecordTo& to, const protocol::RecordingPart& part);

}  // namespace tracectl
