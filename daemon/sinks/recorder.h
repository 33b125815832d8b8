// SPDX-License-Identifier: BSD-2-Clause
//
// A session's events on their way to a trace file, or to several that are filled in turn.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "daemon/base/fd.h"
#include "daemon/base/result.h"
#include "daemon/events/sink.h"
#include "daemon/recording/format.h"

namespace tracectl {

// Takes events on the reader's thread, and has a thread of its own that writes. A disk that is
// slower than the events, or stands still, holds up neither that thread nor who asks: what there is
// no room for is counted, and stands in the file as lost.
class Recorder final : public PerCpuSink {
 public:
  enum class Phase {
    recording,
    ending,  // takes nothing more; what it has is being written
    done,    // it is in the file
    failed,  // nothing more is written but, when it is ended, what was lost; what is in the file stays
  };
  // Where there are several files.
  struct Turns {
    uint64_t files_begun = 0;  // one that was begun anew counts again
    uint64_t overwritten = 0;  // events that had been in those
  };
  struct State {
    Phase phase = Phase::recording;
    uint64_t events = 0;  // in the files or on their way there
    uint64_t lost = 0;    // told by the files to be missing
    uint64_t bytes = 0;   // in the files
    std::optional<Turns> turns = {};
    std::optional<Error> error = {};
  };

  // Owns the file, which must be regular and open for writing, without O_APPEND. What it has is gone.
  // Of blocks that the disk has not taken so many bytes are kept.
  static constexpr size_t kMostWaitingBytes = 64 << 20;
  // `most_bytes`: a recording that would come to have more, without its end, fails, as on a full disk. None: it may grow.
  static Result<std::shared_ptr<Recorder>> start(Fd file, recording::Compression compression,
                                                 size_t most_waiting_bytes = kMostWaitingBytes,
                                                 std::optional<uint64_t> most_bytes = {});
  // With several such files, one at least: when one has `file_bytes` it is finished, and the next, or
  // behind the last the first, begun anew. Each is a trace file of its own; in the order in which they
  // were begun no event is missing between them, and none is in two.
  static Result<std::shared_ptr<Recorder>> start_rotating(
      std::vector<Fd> files, uint64_t file_bytes, recording::Compression compression,
      size_t most_waiting_bytes = kMostWaitingBytes);
  // Ends the recording; does not wait.
  ~Recorder() override;

  void take(std::span<const StreamItem> items) override;
  void take(std::span<const PlainHit> hits) override;
  bool is_awaited() const override { return false; }
  // Where one file ends and another begins there is one moment for all CPUs: else the oldest file would
  // lack what one CPU had at the moment at which it begins.
  bool needs_one_order() const override;
  // Any thread. Does not wait until it is done.
  void end();
  State state() const;
  // Whether all is written, or cannot be, before so many milliseconds are over; of one that has failed and was
  // ended, whether the file says what was lost, if it can.
  bool wait_ms(unsigned milliseconds) const;

 private:
  class Writing;

  static Result<std::shared_ptr<Recorder>> begin(std::vector<Fd> files,
                                                 std::optional<uint64_t> file_bytes,
                                                 recording::Compression compression,
                                                 size_t most_waiting_bytes,
                                                 std::optional<uint64_t> most_bytes);
  explicit Recorder(std::shared_ptr<Writing> writing) : writing_(std::move(writing)) {}

  // Shared with the thread, which may outlive us where the disk stands still.
  std::shared_ptr<Writing> writing_;
};

}  // namespace tracectl
