// SPDX-License-Identifier: BSD-2-Clause
//
// The engine's state of saved sessions that is not in the kernel's tables, as plain values, so that the engine
// of a later daemon continues with the same tables, links and rings. Only an engine with exactly the same BPF
// programs can use it; every version can read the settings of a session (protocol/).
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/base/result.h"
#include "daemon/finding/coverage.h"
#include "daemon/object/file_reader.h"
#include "daemon/switching/session.h"
#include "daemon/switching/slots.h"

namespace tracectl {

struct ObjectState {
  uint32_t number = 0;  // by which its descriptor is saved
  std::string path;
  FileFacts facts;
  FileIdentity identity;  // as it was opened

  template <class Self, class F> static void fields(Self& s, F&& f) {
    f("number", s.number);
    f("path", s.path);
    f("facts", s.facts);
    f("identity", s.identity);
  }
};

struct SlotState {
  SlotId id = 0;
  SlotKey key;
  uint32_t object = 0;  // index in the objects
  bool nop5 = false;

  template <class Self, class F> static void fields(Self& s, F&& f) {
    f("id", s.id);
    f("key", s.key);
    f("object", s.object);
    f("nop5", s.nop5);
  }
};

// A WantedPart. Instead of its setting and its process it has the index of the user's setting, and the
// number and birth of the process.
struct PartState {
  uint32_t object = 0;
  uint64_t of = 0;
  Beside what = Beside::nothing;
  bool of_one_file = false;
  uint32_t sides = 0;
  pid_t pid = 0;  // 0: it is for more than one process
  uint64_t birth = 0;
  bool unmapped = false;
  Follow follow = Follow::none;
  std::optional<std::string> executable;
  std::optional<std::string> cgroup;
  std::shared_ptr<const std::vector<Probe>> probes;

  template <class Self, class F> static void fields(Self& s, F&& f) {
    f("object", s.object);
    f("of", s.of);
    f("of_one_file", s.of_one_file);
    f("sides", s.sides);
    f("pid", s.pid);
    f("birth", s.birth);
    f("unmapped", s.unmapped);
    f("what", s.what);
    f("follow", s.follow);
    f("executable", s.executable);
    f("cgroup", s.cgroup);
    f("probes", s.probes);
  }
};

struct WantState {
  uint32_t part = 0, probe = 0, site = 0;  // indices in these lists
  uint32_t sides = 0;
  SavedHook saved;

  template <class Self, class F> static void fields(Self& s, F&& f) {
    f("part", s.part);
    f("probe", s.probe);
    f("site", s.site);
    f("sides", s.sides);
    f("saved", s.saved);
  }
};

struct SlotWantsState {
  SlotId slot = 0;
  std::vector<WantState> wants;

  template <class Self, class F> static void fields(Self& s, F&& f) {
    f("slot", s.slot);
    f("wants", s.wants);
  }
};

// The text that identifies a setting, said_in(), and what the setting has come to since.
struct SettingState {
  std::string said;
  std::vector<std::string> unit_cgroups;
  std::vector<Pattern> grown;

  template <class Self, class F> static void fields(Self& s, F&& f) {
    f("said", s.said);
    f("unit_cgroups", s.unit_cgroups);
    f("grown", s.grown);
  }
};

struct SessionState {
  std::string name;
  uint32_t id = 0;
  uint64_t epoch = 0;  // of its last commit
  bool paused = false;
  bool gated = false;
  bool is_dumped = false;
  bool marks = false;
  bool has_rings = false;
  std::vector<std::string> tags;
  std::vector<SettingState> settings;  // in force
  std::vector<LeftOut> left_out;       // for its budget
  std::vector<PartState> parts;
  std::vector<SlotWantsState> wants;
  Results past = {};

  template <class Self, class F> static void fields(Self& s, F&& f) {
    f("name", s.name);
    f("id", s.id);
    f("epoch", s.epoch);
    f("paused", s.paused);
    f("gated", s.gated);
    f("is_dumped", s.is_dumped);
    f("marks", s.marks);
    f("has_rings", s.has_rings);
    f("tags", s.tags);
    f("settings", s.settings);
    f("left_out", s.left_out);
    f("parts", s.parts);
    f("wants", s.wants);
    f("past", s.past);
  }
};

struct EngineState {
  uint64_t epoch = 0;       // for which it is valid
  uint64_t ring_bytes = 0;  // of new rings: each ring has its own
  uint32_t last_source = 0, last_serial = 0, last_pair = 0, last_incarnation = 0;
  std::map<std::string, uint32_t> layouts;
  std::vector<ObjectState> objects;
  std::vector<SlotState> slots;
  std::vector<SessionState> sessions;

  template <class Self, class F> static void fields(Self& s, F&& f) {
    f("epoch", s.epoch);
    f("ring_bytes", s.ring_bytes);
    f("last_source", s.last_source);
    f("last_serial", s.last_serial);
    f("last_pair", s.last_pair);
    f("last_incarnation", s.last_incarnation);
    f("layouts", s.layouts);
    f("objects", s.objects);
    f("slots", s.slots);
    f("sessions", s.sessions);
  }
};

// A version number, and the state by its lists of fields (daemon/base/binary.h).
std::string encode(const EngineState& state);
// Fails if it is of another version, or if the state is impossible: numbers
// must be within their tables, and indices within their lists.
Result<EngineState> decode_engine_state(std::string_view bytes);

}  // namespace tracectl
