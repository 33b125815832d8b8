// SPDX-License-Identifier: BSD-2-Clause
//
// What the next daemon is to know of saved sessions, in a store of descriptors that outlives this one: a file
// in memory that says all of it, and the files that users have given. A daemon that is killed at any moment
// leaves one that is whole.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "daemon/base/descriptor_store.h"
#include "daemon/control/flight_recorders.h"
#include "daemon/protocol/kept_state.h"
#include "daemon/sessions/engine.h"

namespace tracectl {

class KeptSessions {
 public:
  static constexpr uint64_t kBeatNs = 1'000'000'000;

  // All are borrowed. `store` null: nothing outlives this process.
  KeptSessions(const Engine& engine, const FlightRecorders& recorders, DescriptorStore* store)
      : engine_(engine), recorders_(recorders), store_(store) {}

  bool can_keep() const { return store_; }

  // What a daemon before has left.
  struct Left {
    protocol::KeptState state;
    uint64_t last_ns = 0;             // since boot: when it is known to have been there
    std::map<std::string, Fd> files;  // by their names in the store
  };
  // To be called before begin(). None: nothing that could be read.
  std::optional<Left> take();
  // Until then nothing is written, so that a daemon that is killed while it goes on with what was left leaves
  // that.
  void begin();

  // Of a file that a saved session is to be given: before it is, so that it can be refused for want of room.
  Status keep_file(const Fd& file);
  // Where it was not given after all.
  void forget_strays() { forget_files_but(files_of_sessions()); }

  // Writes down what saved sessions are now, if that is not what was written last.
  Status save();
  // Notes the time; to be called every kBeatNs while there are any, and at the end.
  void beat();
  bool has_any() const { return !written_.empty(); }

  // What is known of a saved session here.
  struct Facts {
    std::optional<std::string> began = {}, account = {};  // as in protocol::KeptSession
    std::optional<protocol::GapPart> gap = {};
    std::vector<std::string> not_resumed = {};
  };
  Facts& facts(const std::string& session) { return facts_[session]; }
  // None where it is an ordinary one.
  const Facts* known_of(const std::string& session) const;

 private:
  protocol::KeptSession part_of(const Session& session) const;
  std::vector<protocol::KeptSession> parts() const;
  std::set<std::string> files_of_sessions() const;
  Status keep_files();
  void forget_files_but(const std::set<std::string>& wanted);
  Status write(const protocol::KeptState& state);

  const Engine& engine_;
  const FlightRecorders& recorders_;
  DescriptorStore* store_;
  bool begun_ = false;
  std::string written_;  // the sessions, as they were written last; empty: there were none
  uint64_t number_ = 0;  // of the state that was written last
  std::set<std::string> old_names_;  // of states that the daemon before has left
  std::set<std::string> files_;      // in the store
  Fd alive_;
  std::map<std::string, Facts> facts_;
};

}  // namespace tracectl
