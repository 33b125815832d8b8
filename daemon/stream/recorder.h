// SPDX-License-Identifier: BSD-2-Clause
//
// Writes a session's events to a trace file, or to several that are filled in turn.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "daemon/base/fd.h"
#include "daemon/base/result.h"
#include "daemon/recording/format.h"
#include "daemon/stream/sink.h"

namespace tracectl {

// Takes events on the reader's thread, and writes in a thread of its own. A disk that is slower than the
// events, or hangs, delays neither the reader nor callers: events that find no room are counted, and the
// file reports them as lost.
class Recorder final : public HitSink {
 public:
  enum class Phase {
    recording,
    ending,  // takes no more events, and writes those it has
    done,    // all is in the file
    failed,  // writes nothing more but, when it is ended, what was lost; the file's contents stay
  };
  // If there are several files.
  struct Turns {
    uint64_t files_begun = 0;  // a file that is overwritten counts again
    uint64_t overwritten = 0;  // events
  };
  struct State {
    Phase phase = Phase::recording;
    uint64_t events = 0;  // in the files or on their way there
    uint64_t lost = 0;    // that the files report
    uint64_t bytes = 0;   // in the files
    std::optional<Turns> turns = {};
    std::optional<Error> error = {};
  };

  // Owns the file, which must be regular and open for writing, without O_APPEND. Deletes its contents.
  // Keeps at most this many bytes of blocks that are not on the disk yet.
  static constexpr size_t kMostWaitingBytes = 64 << 20;
  // `most_bytes`: a recording that grows beyond it, without its end, fails as on a full disk. None: no bound.
  static Result<std::shared_ptr<Recorder>> start(Fd file, recording::Compression compression,
                                                 size_t most_waiting_bytes = kMostWaitingBytes,
                                                 std::optional<uint64_t> most_bytes = {});
  // Writes to several such files, at least one. When one has `file_bytes` it is finished, and the next is
  // begun; after the last one the first is overwritten. Each is a complete trace file. In the order in which
  // they were begun, no event is missing between them, and none is in two.
  static Result<std::shared_ptr<Recorder>> start_rotating(
      std::vector<Fd> files, uint64_t file_bytes, recording::Compression compression,
      size_t most_waiting_bytes = kMostWaitingBytes);
  // Ends the recording, and does not wait for it.
  ~Recorder() override;

  void take(std::span<const StreamItem> items) override;
  void take(std::span<const PlainHit> hits) override;
  bool is_awaited() const override { return false; }
  // One file ends and the next begins at the same moment for all CPUs. Otherwise the oldest file would lack
  // events that one CPU had when it begins.
  bool needs_one_order() const override;
  // Does not wait until it is done. Any thread.
  void end();
  State state() const;
  // Waits at most this long, and returns whether all is written, or cannot be. For a recording that has failed and
  // was ended: whether the file reports what was lost, as far as it can.
  bool wait_ms(unsigned milliseconds) const;

 private:
  class Writing;

  static Result<std::shared_ptr<Recorder>> begin(std::vector<Fd> files,
                                                 std::optional<uint64_t> file_bytes,
                                                 recording::Compression compression,
                                                 size_t most_waiting_bytes,
                                                 std::optional<uint64_t> most_bytes);
  explicit Recorder(std::shared_ptr<Writing> writing) : writing_(std::move(writing)) {}

  // Shared with the thread, which may outlive this object if the disk hangs.
  std::shared_ptr<Writing> writing_;
};

}  // namespace tracectl
