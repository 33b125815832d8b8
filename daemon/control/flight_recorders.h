// SPDX-License-Identifier: BSD-2-Clause
//
// The flight recorders of sessions, and what is being written of them.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "daemon/base/fd.h"
#include "daemon/base/result.h"
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

  // From now on the session's last events are held.
  Status keep(const std::string& session, const protocol::RecorderBoundPart& bound);
  // The session is gone. What is being written of it is written to its end.
  void forget(const std::string& session) { recorders_.erase(session); }
  std::optional<protocol::RecorderPart> part_of(const std::string& session) const;

  // Does not wait for the disk.
  Result<protocol::DumpPart> dump(const std::string& session, Fd file,
                                  recording::Compression compression);
  Result<protocol::DumpPart> dumped(uint64_t number) const;

 private:
  struct Kept {
    protocol::RecorderBoundPart bound;
    std::shared_ptr<FlightRecorder> recorder;
  };
  struct Dumping {
    std::string session;
    std::shared_ptr<Dump> dump;
    std::optional<std::string> note;
  };

  Result<const Kept*> kept(const std::string& session) const;
  bool is_being_written(const std::string& session) const;
  void forget_old_dumps();

  Engine& engine_;
  std::map<std::string, Kept> recorders_;  // by session
  std::map<uint64_t, Dumping> dumps_;      // by number; the last of those that are over, too
  uint64_t last_number_ = 0;
};

}  // namespace tracectl
