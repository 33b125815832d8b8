// SPDX-License-Identifier: BSD-2-Clause
//
// The state of saved sessions for the next daemon, in a store of descriptors that outlives this one: one file in
// memory with the whole state, and the files that users gave. A daemon that is killed at any moment leaves a
// complete state.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "daemon/base/descriptor_store.h"
#include "daemon/control/flight_recorders.h"
#include "daemon/protocol/saved_state.h"
#include "daemon/sessions/engine.h"

namespace tracectl {

class SavedSessions {
 public:
  static constexpr uint64_t kBeatNs = 1'000'000'000;

  // All are borrowed. If `store` is null, nothing outlives this process.
  SavedSessions(Engine& engine, const FlightRecorders& recorders, DescriptorStore* store)
      : engine_(engine), recorders_(recorders), store_(store) {}

  bool can_save() const { return store_; }

  // The state that a previous daemon left.
  struct Left {
    protocol::SavedState state;
    uint64_t last_ns = 0;             // since boot: the last time at which it was known to run
    std::map<std::string, Fd> files;  // by their names in the store
  };
  // To be called before begin(). None if nothing could be read.
  std::optional<Left> take();
  // Nothing is written before this call: a daemon that is killed while it restores the sessions leaves the
  // state that it found.
  void begin();

  // Stores a file before a saved session is given it, so that it can be refused if the store is full.
  Status save_file(const Fd& file);
  // To be called if the file was then not given to the session.
  void forget_strays() { forget_files_but(files_of_sessions()); }

  // Writes the state of saved sessions if it has changed since it was written.
  Status save();
  // To be called after anything that may have changed one of them: a failure is logged.
  void save_changes();
  // Stores the time; to be called every kBeatNs while there are saved sessions, and at the end.
  void beat();
  bool has_any() const { return !written_.empty(); }

  // Facts about a saved session that the engine does not have.
  struct Facts {
    std::optional<std::string> began = {}, account = {};  // as in protocol::SavedSession
    std::optional<protocol::GapPart> gap = {};
    std::vector<std::string> not_resumed = {};
  };
  Facts& facts(const std::string& session) { return facts_[session]; }
  // None if nothing is noted of the session, as of one that is not saved.
  const Facts* known_of(const std::string& session) const;

 private:
  protocol::SavedSession part_of(const Session& session) const;
  std::vector<protocol::SavedSession> parts() const;
  std::set<std::string> files_of_sessions() const;
  Status save_files();
  void forget_files_but(const std::set<std::string>& wanted);
  Status write(const protocol::SavedState& state);

  Engine& engine_;
  const FlightRecorders& recorders_;
  DescriptorStore* store_;
  bool begun_ = false;
  std::string written_;  // the sessions, as they were written last; empty if there were none
  uint64_t number_ = 0;  // of the state that was written last
  std::set<std::string> old_names_;  // of states that the previous daemon left
  std::set<std::string> files_;      // in the store
  Fd alive_;
  std::map<std::string, Facts> facts_;
};

}  // namespace tracectl
