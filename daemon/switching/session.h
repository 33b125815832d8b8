// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <sys/types.h>

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "daemon/finding/given_files.h"
#include "daemon/finding/linkers.h"
#include "daemon/model/event.h"
#include "daemon/model/latencies.h"
#include "daemon/model/rows.h"
#include "daemon/model/setting.h"
#include "daemon/process/process.h"
#include "daemon/switching/budget.h"
#include "daemon/switching/slots.h"

namespace tracectl {

// Addresses, by process.
using CalledAddresses = std::map<pid_t, std::set<uint64_t>>;

struct Coverage;

// A hook that a session has in force, and the meaning of its counters.
struct SessionHook {
  Hook hook;
  std::shared_ptr<const std::string> probe;
  std::shared_ptr<const Setting> setting;
  std::shared_ptr<const Process> process;     // the only one it is for, or null
  std::shared_ptr<const ReturnPlan> returns;  // if it follows calls
  uint64_t epoch = 0;                         // under which it came into force
  CostClass cost = CostClass::slow;           // of its site
  std::optional<std::string> cgroup = {};     // that it is for
};

// The session's hooks of one slot, in the order of Wants.
using SessionHooks = std::vector<SessionHook>;

// hits = filtered + taken. Some of those taken may have been dropped.
struct Totals {
  uint64_t hits = 0;
  uint64_t filtered = 0;  // by conditions, samples and limits
  uint64_t dropped_ring = 0;
  uint64_t dropped_keys = 0;
  uint64_t cut = 0;       // calls whose return is not traced because too many were open
  uint64_t silenced = 0;  // of those taken: events of silent threads

  void add(const tc_stat& stat) {
    hits += stat.hits;
    filtered += stat.filtered;
    dropped_ring += stat.dropped_ring;
    dropped_keys += stat.dropped_keys;
    silenced += stat.silenced;
  }
  template <class Self, class F> static void fields(Self& s, F&& f) {
    f("hits", s.hits);
    f("filtered", s.filtered);
    f("dropped_ring", s.dropped_ring);
    f("dropped_keys", s.dropped_keys);
    f("cut", s.cut);
    f("silenced", s.silenced);
  }
};

struct Results {
  Rows rows = {};
  Latencies latencies = {};
  CallPaths paths = {};  // if there are rows by path
  Totals totals = {};

  template <class Self, class F> static void fields(Self& s, F&& f) {
    f("totals", s.totals);
    f("rows", s.rows);
    f("latencies", s.latencies);
    f("paths", s.paths);
  }
};

// The key of an event source: probe, layout (Layouts::text_of()), and names and types of the arguments, or the spec if
// it has values of its own. So replacing a spec a thousand times makes no new source.
using SourceKey = std::tuple<std::string, std::string, std::string>;

struct Learned;

// The target of a call: device, inode and offset in a file.
using CalleePlace = std::tuple<dev_t, ino_t, uint64_t>;

struct Triggered {
  SessionId id = 0;
  bool is_dumped = false;
};

// A file that was executed in a cgroup that a session follows.
struct ExecutedFile {
  ino_t inode = 0;
  pid_t pid = 0;  // the process that executed it
  uint64_t ts_ns = 0;
};

// A file that was armed because it was executed in a cgroup, or replaced another at a path, and how long it ran
// before without being traced.
struct Followed {
  std::string path;
  std::string cgroup;  // or empty
  pid_t pid = 0;       // that executed it first; 0: nobody had when it was armed
  uint64_t ts_ns = 0;  // when
  uint64_t unobserved_ns = 0;
};

// A process that hit a probe in its dynamic linker, or joined a set that a session follows.
struct MapperSeen {
  pid_t pid = 0;
  uint64_t ts_ns = 0;
};

// The events that a session waits for in programs that it traces or will trace, and those reported.
struct Awaited {
  std::vector<LinkerPtr> linkers;
  std::map<std::pair<dev_t, ino_t>, uint16_t> executable_sets;  // as tc_hook.set_target
  std::vector<MapperSeen> seen;                                 // that follow() has not looked at
  bool again = false;         // files mapped while the linkers were being armed were not reported
  uint64_t looked_ns = 0;     // when the last complete look began
  uint64_t next_look_ns = 0;  // not before
};

// One user's named, isolated set of settings, with its own results.
struct Session {
  SessionId id = 0;
  std::string name;
  bool named = true;
  bool saved = false;  // it outlives the daemon
  Access access = {};
  uint32_t account = 0;           // of its owner, if it has one
  std::set<pid_t> unproven = {};  // left out without a proof since prove() was called
  // Its hooks are in no generation, but their sites are armed. For a gated session see its gate:
  // Gates::is_paused().
  bool paused = false;
  bool gated = false;             // a setting in force triggers it: its hooks use its gate
  std::vector<Setting> settings;  // in force
  std::optional<std::vector<Setting>> draft;  // staged and not committed
  uint64_t epoch = 0;                         // of the last commit
  std::unordered_map<SlotId, SessionHooks> hooks;
  std::shared_ptr<const Coverage> coverage;  // of its hooks, if it is saved
  Results past;                              // of former hooks; final
  bool has_rings = false;
  std::map<SourceKey, uint32_t> sources;
  bool marks = false;                        // it has had a setting that marks threads
  std::vector<std::string> tags;             // number n is tags[n - 1]
  std::map<CalleePlace, bool> callees_seen;  // by grow(): whether a function begins there
  CalledAddresses called_unread;  // that grow() has taken, in files that were still being read
  std::optional<Budget> budget;
  std::map<std::string, Triggered> triggers;    // the sessions that its settings name
  bool is_dumped = false;                       // by triggers, which leave its gate alone
  std::map<std::string, uint16_t> cgroup_sets;  // that report to it, as tc_hook.set_target
  std::vector<ExecutedFile> executed;           // that follow() has not looked at
  bool was_replaced = false;                // perhaps one of its files, since follow() has looked
  std::shared_ptr<Learned> follow_learned;  // of files that follow() waits for
  Awaited awaited;
  std::vector<Followed> followed;  // the last ones, the earliest first
};

}  // namespace tracectl
