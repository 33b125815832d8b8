// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "daemon/model/event.h"
#include "daemon/model/setting.h"
#include "daemon/process/process.h"
#include "daemon/trace/slots.h"

namespace tracectl {

// A hook a session has in force, and what its counters mean.
struct SessionHook {
  Hook hook;
  std::shared_ptr<const std::string> probe;
  std::shared_ptr<const Setting> setting;
  std::shared_ptr<const Process> process;  // the only one it is for, or none
  uint64_t epoch = 0;                      // under which it came into force
};

// Those of one slot, in the order of Wants.
using SessionHooks = std::vector<SessionHook>;

// A row of results: a probe, and where it is counted by them a process and a thread.
struct RowKey {
  std::string probe;
  pid_t pid = 0;
  pid_t tid = 0;

  auto operator<=>(const RowKey&) const = default;
};

struct RowKeyHash {
  size_t operator()(const RowKey& key) const {
    constexpr size_t kOdd = 0x9e3779b97f4a7c15;  // spreads neighbours over all bits
    return std::hash<std::string>{}(key.probe) ^ static_cast<size_t>(key.tid) * kOdd ^
           static_cast<size_t>(key.pid);
  }
};

struct Totals {
  uint64_t hits = 0;
  uint64_t dropped_ring = 0;
  uint64_t dropped_keys = 0;

  void add(const tc_stat& stat) {
    hits += stat.hits;
    dropped_ring += stat.dropped_ring;
    dropped_keys += stat.dropped_keys;
  }
};

using RowCounts = std::unordered_map<RowKey, uint64_t, RowKeyHash>;

struct Results {
  RowCounts rows;
  Totals totals;
};

// One user's named, isolated set of settings, with its own results.
struct Session {
  SessionId id = 0;
  std::string name;
  bool named = true;
  bool paused = false;            // its hooks are in no generation; their sites are armed
  std::vector<Setting> settings;  // in force
  std::optional<std::vector<Setting>> draft;  // staged and not committed
  uint64_t epoch = 0;                         // of the last commit
  std::unordered_map<SlotId, SessionHooks> hooks;
  Results past;  // of hooks that are gone: final
  bool has_rings = false;
  // By probe and layout, so that replacing a spec a thousand times makes no new source.
  std::map<std::pair<std::string, uint32_t>, uint32_t> sources;
};

}  // namespace tracectl
