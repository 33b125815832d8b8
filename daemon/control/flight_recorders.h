// SPDX-License-Identifier: BSD-2-Clause
//
// The flight recorders of sessions, and what is being written of them.
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
  // What dumps take that nobody asks for: where they go, and who tells dump_failed() of units. The
  // units are borrowed.
  struct Unasked {
    DumpFolder folder;
    UnitFailures& units;
  };
  // Without: only those who ask get a dump.
  explicit FlightRecorders(Engine& engine, std::optional<Unasked> unasked = std::nullopt)
      : engine_(engine), unasked_(std::move(unasked)) {}
  // Gives dumps some seconds to be written to their end.
  ~FlightRecorders();

  // Of a user who has a quota: fails with Code::exhausted where its recorders would have more bytes than one
  // user may, or all users together, with what is still being written of those that are gone.
  Status check_memory_of(uid_t user, const protocol::RecorderBoundPart& asked,
                         const Quota& quota) const;

  // From now on the last events of the session, which has just been made, are held. The user is who
  // has made it.
  Status keep(const std::string& session, const protocol::SessionCreate& asked, uid_t user);
  // The session is about to go: what waits for its last events waits no longer, and says so.
  void begin_dumps_of(const std::string& session);
  // The session is gone. What is being written of it is written to its end.
  void forget(const std::string& session);
  std::optional<protocol::RecorderPart> part_of(const std::string& session) const;
  // Who has made the session; none where it has no recorder.
  std::optional<uid_t> user_of(const std::string& session) const;

  // Waits neither for events that are on their way, which the file is to have, too, nor for the disk. The reason
  // is told by the file.
  Result<protocol::DumpPart> dump(const std::string& session, Fd file,
                                  recording::Compression compression, const std::string& reason);
  // `by`: who asks, if that user may know of its own only; of others there is none.
  Result<protocol::DumpPart> dumped(uint64_t number, std::optional<uid_t> by = std::nullopt);
  // Begins to write what has waited for events until now.
  void take_flushed();

  // To files in the folder. What cannot be written is logged and counted.
  void dump_all(const std::string& reason);
  void dump_triggered(const DumpAsked& asked);
  // Of the sessions that are to be dumped then. A session has one such dump in kLeastBetweenNs: what goes
  // wrong again and again would fill the disk with the same.
  void dump_crashed(const SeenCrash& seen);
  void dump_failed(const UnitFailure& failure);
  // Logs what has come of those since the last time, and begins what has waited for them; to be called
  // now and then until it is false.
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
    uint64_t quota_bytes = 0;                 // that it counts for, if its user has a quota
    std::optional<std::string> waiting = {};  // for another dump: the reason of one
    uint64_t quiet_until_ns = 0;              // no dump of what goes wrong before
    uint64_t listen_at_ns = 0;                // triggers are heard again; 0: they are
    uint64_t left_out = 0;                    // dumps
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
    std::optional<DumpFolder::Place> place = {};  // in the folder, until its end has been told
    uint64_t quota_bytes = 0;                     // of its recorder
  };

  Result<protocol::DumpOnPart> watched(const protocol::DumpOnPart& asked);
  void dump_for(const std::string& session, Kept& kept, const std::string& reason);
  void dump_after_failure(const std::string& session, const std::string& reason);
  Status dump_to_folder(const std::string& session, uid_t user, const std::string& reason);
  static void begin(Dumping& dumping);
  static Dump::State state_of(const Dumping& dumping);
  bool look_after(const std::string& session, Kept& kept);
  bool tell_ended();
  void watch_what_is_wanted();
  void tell_end(const Dumping& dumping, const Dump::State& state);
  Result<const Kept*> kept(const std::string& session) const;
  bool is_being_written(const std::string& session) const;
  static bool is_being_written(const Dumping& dumping);
  bool is_kept_by_dump_alone(const Dumping& dumping) const;
  void forget_old_dumps();

  Engine& engine_;
  const std::optional<Unasked> unasked_;
  std::map<std::string, Kept> recorders_;  // by session
  std::map<uint64_t, Dumping> dumps_;      // by number; the last of those that are over, too
  uint64_t last_number_ = 0;
  Counts counts_;
};

}  // namespace tracectl
