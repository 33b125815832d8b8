// SPDX-License-Identifier: BSD-2-Clause
//
// Writes what a flight recorder held at one moment to a trace file.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "daemon/base/fd.h"
#include "daemon/base/result.h"
#include "daemon/recording/format.h"
#include "daemon/stream/flight_recorder.h"

namespace tracectl {

// A thread of its own writes, so that nobody else waits for the disk.
class Dump {
 public:
  enum class Phase { writing, done, failed };
  struct State {
    Phase phase = Phase::writing;
    uint64_t events = 0;  // in the file
    uint64_t lost = 0;    // that the file reports
    uint64_t bytes = 0;   // of the file
    std::optional<Error> error = {};
  };

  // Owns the file, which must be like that of a recording. Writes the reason into it.
  static Result<std::shared_ptr<Dump>> start(Fd file, FlightRecorder::Snapshot snapshot,
                                             recording::Compression compression,
                                             const std::string& reason);

  State state() const;
  // Waits at most this long, and returns whether the dump has ended.
  bool wait_ms(unsigned milliseconds) const;

 private:
  class Writing;

  explicit Dump(std::shared_ptr<Writing> writing) : writing_(std::move(writing)) {}

  // Shared with the thread, which may outlive this object if the disk hangs.
  std::shared_ptr<Writing> writing_;
};

}  // namespace tracectl
