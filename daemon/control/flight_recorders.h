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

#include "daemon/base/fd.h"
#include "daemon/base/result.h"
#include "daemon/control/dump_folder.h"
#include "daemon/protocol/messages.h"
#include "daemon/sinks/dump.h"
#include "daemon/sinks/flight_recorder.h"
#include "daemon/trace/engine.h"

namespace tracectl {

Status check_bound(const std::optional<protocol::RecorderBoundPart>& bound);

class FlightRecorders {
 public:
  explicit FlightRecorders(Engine& engine) : engine_(engine) {}
  // Gives dumps some seconds to be written to their end.
  ~FlightRecorders();

  // From now on the session's last events are held. The user is who has made it.
  Status keep(const std::string& session, const protocol::RecorderBoundPart& bound, uid_t user);
  // The session is gone. What is being written of it is written to its end.
  void forget(const std::string& session) { recorders_.erase(session); }
  std::optional<protocol::RecorderPart> part_of(const std::string& session) const;

  // Does not wait for the disk.
  Result<protocol::DumpPart> dump(const std::string& session, Fd file,
                                  recording::Compression compression);
  Result<protocol::DumpPart> dumped(uint64_t number) const;

  // Of each recorder, to a file of its own. What cannot be written is logged and counted.
  void dump_all(const DumpFolder& folder);
  // Logs what has come of those since the last time; false: nothing of them is being written.
  bool tell_ended();
  struct Counts {
    uint64_t written = 0, failed = 0;  // to the folder
  };
  const Counts& counts() const { return counts_; }

 private:
  struct Kept {
    protocol::RecorderBoundPart bound;
    uid_t user;
    std::shared_ptr<FlightRecorder> recorder;
  };
  struct Dumping {
    std::string session;
    std::shared_ptr<Dump> dump;
    std::optional<std::string> note;
    std::string path = {};  // in the folder, until its end has been told
  };

  Status dump_to(const DumpFolder& folder, const std::string& session, uid_t user);
  void tell_end(const Dumping& dumping, const Dump::State& state);
  Result<const Kept*> kept(const std::string& session) const;
  bool is_being_written(const std::string& session) const;
  void forget_old_dumps();

  Engine& engine_;
  std::map<std::string, Kept> recorders_;  // by session
  std::map<uint64_t, Dumping> dumps_;      // by number; the last of those that are over, too
  uint64_t last_number_ = 0;
  Counts counts_;
};

}  // namespace tracectl
