// SPDX-License-Identifier: BSD-2-Clause
//
// What the engine knows of saved sessions beyond what is in the kernel's tables, as plain values, so that the
// engine of a later daemon goes on with the same tables, links and rings. It is for one that has the very same BPF
// programs; what any version can read of a session are its settings (protocol/).
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
  uint32_t number = 0;  // by which its descriptor is kept
  std::string path;
  FileFacts facts;
  FileIdentity identity;  // as it was opened
};

struct SlotState {
  SlotId id = 0;
  SlotKey key;
  uint32_t object = 0;  // which of the objects
  bool nop5 = false;
};

// A WantedPart: where its setting and its process are not, their places among settings and what names it.
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
};

struct WantState {
  uint32_t part = 0, probe = 0, site = 0;  // of these lists
  uint32_t sides = 0;
  FormerHook former;
};

struct SlotWantsState {
  SlotId slot = 0;
  std::vector<WantState> wants;
};

// What a setting has become since it was said, and what was said: to be told from another by.
struct SettingState {
  std::string said;
  std::vector<std::string> unit_cgroups;
  std::vector<Pattern> grown;
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
};

struct EngineState {
  uint64_t epoch = 0;       // under which it is true
  uint64_t ring_bytes = 0;  // of new rings: each ring has its own
  uint32_t last_source = 0, last_serial = 0, last_pair = 0, last_incarnation = 0;
  std::map<std::string, uint32_t> layouts;
  std::vector<ObjectState> objects;
  std::vector<SlotState> slots;
  std::vector<SessionState> sessions;
};

std::string encode(const EngineState& state);
// Fails where that cannot be. Numbers are within their tables, and lists refer to what is there.
Result<EngineState> decode_engine_state(std::string_view bytes);

}  // namespace tracectl
