// SPDX-License-Identifier: BSD-2-Clause
//
// What a flight recorder held at one moment, on its way to a trace file.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "daemon/base/fd.h"
#include "daemon/base/result.h"
#include "daemon/recording/format.h"
#include "daemon/sinks/flight_recorder.h"

namespace tracectl {

// Written by a thread of its own: nobody else waits for the disk.
class Dump {
 public:
  enum class Phase { writing, done, failed };
  struct State {
    Phase phase = Phase::writing;
    uint64_t events = 0;  // in the file
    uint64_t lost = 0;    // told by the file to be missing
    uint64_t bytes = 0;   // of the file
    std::optional<Error> error = {};
  };

  // Owns the file, which must be as a recording's. The reason stands in it.
  static Result<std::shared_ptr<Dump>> start(Fd file, FlightRecorder::Snapshot snapshot,
                                             recording::Compression compression,
                                             const std::string& reason);

  State state() const;
  // Whether it is over before so many milliseconds are.
  bool wait_ms(unsigned milliseconds) const;

 private:
  class Writing;

  explicit Dump(std::shared_ptr<Writing> writing) : writing_(std::move(writing)) {}

  // Shared with the thread, which may outlive us where the disk stands still.
  std::shared_ptr<Writing> writing_;
};

}  // namespace tracectl
