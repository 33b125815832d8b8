// SPDX-License-Identifier: BSD-2-Clause
//
// The flight recorders of sessions, and their dumps that are being written.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <variant>

#include "daemon/base/fd.h"
#include "daemon/base/result.h"
#include "daemon/control/dump_folder.h"
#include "daemon/process/unit_failures.h"
#include "daemon/protocol/messages.h"
#include "daemon/sessions/engine.h"
#include "daemon/stream/dump.h"
#include "daemon/stream/flight_recorder.h"

namespace tracectl {

Status check_recorder(const protocol::SessionCreate& asked);

class FlightRecorders {
 public:
  // Needed for dumps that no client requests: their folder, and the units whose failures are passed to
  // dump_failed(). The units are borrowed.
  struct Unasked {
    DumpFolder folder;
    UnitFailures& units;
  };
  // Without `unasked`, dumps are made only on request.
  explicit FlightRecorders(Engine& engine, std::optional<Unasked> unasked = std::nullopt)
      : engine_(engine), unasked_(std::move(unasked)) {}
  // Waits some seconds for dumps to be written.
  ~FlightRecorders();

  // For a user who has a quota: fails with Code::exhausted if its recorders, or those of all users, would have
  // more bytes than the quota allows. Recorders that are gone count while their dumps are being written.
  Status check_memory_of(uid_t user, const protocol::RecorderBoundPart& asked,
                         const Quota& quota) const;

  // Begins to hold the last events of a session that has just been made by the user.
  Status keep(const std::string& session, const protocol::SessionCreate& asked, uid_t user);
  // To be called before the session is deleted: dumps that wait for its last events begin without them, and
  // note that.
  void begin_dumps_of(const std::string& session);
  // To be called when the session is gone. Dumps of it that are being written continue.
  void forget(const std::string& session);
  std::optional<protocol::RecorderPart> part_of(const std::string& session) const;
  // The user who made the session; none if it has no recorder.
  std::optional<uid_t> user_of(const std::string& session) const;

  // Returns before events that are on their way have come, though the file will have them, and before anything is
  // written. The file records the reason.
  Result<protocol::DumpPart> dump(const std::string& session, Fd file,
                                  recording::Compression compression, const std::string& reason);
  // `by`: the asking user, if it may see only its own dumps; others' are not found then.
  Result<protocol::DumpPart> dumped(uint64_t number, std::optional<uid_t> by = std::nullopt);
  // Begins to write the dumps whose events have come.
  void take_flushed();

  // Dumps to files in the folder. Failures are logged and counted.
  void dump_all(const std::string& reason);
  void dump_triggered(const DumpAsked& asked);
  // Dumps the sessions that have this in their dump_on. A session gets at most one such dump in
  // kLeastBetweenNs, because a repeated failure would fill the disk.
  void dump_ended(const SeenEnd& seen);
  void dump_failed(const UnitFailure& failure);
  // Logs the dumps to the folder that have ended, and begins those that waited for them. To be called now and
  // then until it returns false.
  bool look_after();
  struct Counts {
    uint64_t written = 0, failed = 0;  // to the folder
  };
  const Counts& counts() const { return counts_; }

 private:
  static constexpr uint64_t kLeastBetweenNs = 10'000'000'000;

  struct Kept {
    protocol::RecorderBoundPart bound;
    protocol::DumpOnPart dump_on;
    uid_t user;
    std::shared_ptr<FlightRecorder> recorder;
    uint64_t quota_bytes = 0;                   // counted against its user's quota, if there is one
    std::optional<std::string> waiting = {};    // reason of a dump that waits for another one's end
    uint64_t quiet_until_ns = 0;                // until then failures make no dump
    uint64_t listen_at_ns = 0;                  // triggers work again then; 0: they do now
    uint64_t left_out = 0;                      // number of dumps not made
    std::optional<std::string> last_dump = {};  // its file in the folder
  };
  // A dump before it is begun.
  struct Flushing {
    std::shared_ptr<FlightRecorder> recorder;
    Fd file;
    recording::Compression compression;
    uint64_t asked_ns;
  };
  struct Dumping {
    std::string session;
    uid_t user;
    std::string reason;
    std::variant<Flushing, std::shared_ptr<Dump>, Error> stage;
    std::optional<std::string> note = {};
    std::optional<DumpFolder::Place> place = {};  // in the folder, until its end is logged
    uint64_t quota_bytes = 0;                     // of its recorder
    std::weak_ptr<FlightRecorder> recorder = {};
  };

  Result<protocol::DumpOnPart> watched(const protocol::DumpOnPart& asked);
  void dump_for(const std::string& session, Kept& kept, const std::string& reason);
  void dump_after_failure(const std::string& session, const std::string& reason);
  Status dump_to_folder(const std::string& session, uid_t user, const std::string& reason);
  static void begin(Dumping& dumping);
  static Dump::State state_of(const Dumping& dumping);
  bool look_after(const std::string& session, Kept& kept);
  bool report_ended();
  void watch_what_is_wanted();
  void report_end(const Dumping& dumping, const Dump::State& state);
  Result<const Kept*> kept(const std::string& session) const;
  bool is_being_written(const std::string& session) const;
  static bool is_being_written(const Dumping& dumping);
  bool is_kept_by_dump_alone(const Dumping& dumping) const;
  void forget_old_dumps();

  Engine& engine_;
  const std::optional<Unasked> unasked_;
  std::map<std::string, Kept> recorders_;  // by session
  std::map<uint64_t, Dumping> dumps_;      // by number, with the last that have ended
  uint64_t last_number_ = 0;
  Counts counts_;
};

}  // namespace tracectl
