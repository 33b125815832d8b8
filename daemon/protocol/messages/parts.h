// SPDX-License-Identifier: BSD-2-Clause
//
// What several messages have in common. The rules of these structs: daemon/protocol/messages.h.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tracectl::protocol {

struct Empty {
  template <class Self, class F> static void fields(Self&, F&&) {}
};

// Of the files that one request brings as descriptors. A Unix socket takes 253 at a time.
inline constexpr size_t kMostFilesOfRequest = 128;
inline constexpr uint64_t kMostProofsOfRequest = 128;

// In which processes. Exactly what Target of the model says; none chosen is allowed for
// listing by path.
struct TargetPart {
  std::vector<int64_t> pids;
  std::vector<std::string> executables;  // absolute paths
  bool all = false;
  // For one process in `pids` that waits before its execve: what it is going to map, absolute
  // paths, its executable first. tracectl -- COMMAND makes this.
  std::vector<std::string> will_map;
  // Which children of `pids`, forked later, too: "children", "first_child"; none: no child.
  std::optional<std::string> follow = {};
  // Every process in one of these cgroups of version 2 or below it, now or later: paths from the root
  // of their hierarchy.
  std::vector<std::string> cgroups = {};
  std::vector<std::string> units = {};  // of systemd's, "ssh.service": as the cgroups of these
  template <class Self, class F> static void fields(Self& s, F&& f) {
    f.optional("pids", s.pids);
    f.optional("executables", s.executables);
    f.optional("all", s.all);
    f.optional("will_map", s.will_map);
    f("follow", s.follow);
    f.optional("cgroups", s.cgroups);
    f.optional("units", s.units);
  }
};

struct SitePart {
  std::string object;        // path of the ELF file
  std::string build_id;      // hex, empty if the file has none
  uint64_t offset = 0;       // of the probed instruction, in the file
  uint64_t moved_bytes = 0;  // how far behind the function's start (or the named offset) it sits
  std::string cost;          // "fast", "normal", "slow"; the class of this site
  std::optional<uint64_t> semaphore;  // offset in the file
  template <class Self, class F> static void fields(Self& s, F&& f) {
    f("object", s.object);
    f("build_id", s.build_id);
    f("offset", s.offset);
    f("moved_bytes", s.moved_bytes);
    f("cost", s.cost);
    f("semaphore", s.semaphore);
  }
};

struct EnumeratorPart {
  std::string name;
  int64_t value = 0;
  template <class Self, class F> static void fields(Self& s, F&& f) {
    f("name", s.name);
    f("value", s.value);
  }
};

struct ArgumentPart {
  std::string name;   // of the parameter; arg0... where it is not known
  std::string type;   // "s32", "u64", "f64"
  std::string place;  // as in the note: -4@112(%rsp); for functions the register; or why unreadable
  bool readable = true;
  // "integer", "float", "boolean", "character", "enumeration", "pointer", "text" (the address of a C
  // string), "aggregate" (no single number)
  std::string kind;
  std::optional<std::string> declared_type;                // in C; where debug information tells
  std::optional<std::vector<EnumeratorPart>> enumerators;  // only in the notification `probe`
  template <class Self, class F> static void fields(Self& s, F&& f) {
    f("name", s.name);
    f("type", s.type);
    f("place", s.place);
    f("readable", s.readable);
    f("kind", s.kind);
    f("declared_type", s.declared_type);
    f("enumerators", s.enumerators);
  }
};

struct ProbePart {
  std::string probe;  // canonical name
  std::string cost;   // the dearest class of its sites
  std::optional<std::string> demangled;
  std::vector<SitePart> sites;
  std::vector<ArgumentPart> args;  // of the first site
  template <class Self, class F> static void fields(Self& s, F&& f) {
    f("probe", s.probe);
    f("class", s.cost);
    f("demangled", s.demangled);
    f("sites", s.sites);
    f("args", s.args);
  }
};

// A probe or site that matched and is not, or will not be, armed.
struct RefusalPart {
  std::string probe;
  std::optional<uint64_t> offset;  // of the site, in the file
  std::optional<int64_t> pid;      // where the reason is one process's
  std::string reason;
  template <class Self, class F> static void fields(Self& s, F&& f) {
    f("probe", s.probe);
    f("offset", s.offset);
    f("pid", s.pid);
    f("reason", s.reason);
  }
};

// What is shown below the calls of a graph.
struct GraphPart {
  std::vector<std::string> only = {};    // patterns of functions; none: all that can be reached
  std::vector<std::string> skip = {};    // globs of functions that are not shown
  std::vector<std::string> beside = {};  // patterns of USDT probes that are shown where they fire
  bool grow = false;                     // stage.grow adds functions; not with `only`
  std::optional<std::string> keep_if =
      {};  // what is within a call, only where this holds at its end
  template <class Self, class F> static void fields(Self& s, F&& f) {
    f.optional("only", s.only);
    f.optional("skip", s.skip);
    f.optional("beside", s.beside);
    f.optional("grow", s.grow);
    f("keep_if", s.keep_if);
  }
};

// One staged setting: pattern + target + spec.
struct SettingPart {
  std::string pattern;
  std::string scope;  // "local" or "global"
  TargetPart target;
  std::string action;                       // the spec, as --do takes it
  std::optional<std::string> when = {};     // its condition, as --when takes it
  std::optional<std::string> returns = {};  // how returns are seen, where they are: as --returns
  // Of one that measures from one probe to another.
  std::optional<std::string> from = {}, by = {};
  std::optional<uint64_t> slowest = {};
  std::optional<GraphPart> graph = {};  // of one whose spec has `graph`
  template <class Self, class F> static void fields(Self& s, F&& f) {
    f("pattern", s.pattern);
    f("scope", s.scope);
    f("target", s.target);
    f("do", s.action);
    f("when", s.when);
    f("returns", s.returns);
    f("from", s.from);
    f("by", s.by);
    f("slowest", s.slowest);
    f("graph", s.graph);
  }
};

// How long the parts of a switch took, in microseconds; `switch` is the store itself.
struct PhasesPart {
  uint64_t stage = 0, arm = 0, wait = 0, switch_ = 0, disarm = 0;
  template <class Self, class F> static void fields(Self& s, F&& f) {
    f("stage", s.stage);
    f("arm", s.arm);
    f("wait", s.wait);
    f("switch", s.switch_);
    f("disarm", s.disarm);
  }
};

// When a CPU first saw the new epoch: nanoseconds from the store to its first hit under it. A CPU
// that had no hit before the wait behind the switch was over is not listed.
struct SkewPart {
  uint64_t cpu = 0;
  uint64_t ns = 0;
  template <class Self, class F> static void fields(Self& s, F&& f) {
    f("cpu", s.cpu);
    f("ns", s.ns);
  }
};

// A probe that a session has left out, as its hits cost more than the session's budget.
struct LeftOutPart {
  std::string probe;
  std::string cost;              // the dearest class of its sites
  uint64_t hits_per_second = 0;  // in the period before
  double percent = 0;            // of one CPU: what these cost, by estimate
  double budget = 0;
  uint64_t others = 0;  // probes that tell nothing without it, and went with it
  template <class Self, class F> static void fields(Self& s, F&& f) {
    f("probe", s.probe);
    f("class", s.cost);
    f("hits_per_second", s.hits_per_second);
    f("percent", s.percent);
    f("budget", s.budget);
    f("others", s.others);
  }
};

// What a session's flight recorder holds at most: of the last events as many as fit into so many bytes
// of memory, and no older ones than that. One of the two at least is given.
struct RecorderBoundPart {
  static constexpr uint64_t kLeastBytes = 1 << 20, kMostBytes = uint64_t{4} << 30;
  static constexpr uint64_t kBytesOfTime = 256 << 20;  // where only a time is given
  static constexpr double kLeastSeconds = 0.01, kMostSeconds = 86400;
  std::optional<uint64_t> bytes = {};
  std::optional<double> seconds = {};
  template <class Self, class F> static void fields(Self& s, F&& f) {
    f("bytes", s.bytes);
    f("seconds", s.seconds);
  }
};

// When a flight recorder is dumped without anybody asking, to the daemon's folder of dumps.
struct DumpOnPart {
  // A process that a setting has chosen by its number, its executable or its parent is ended by a signal
  // that leaves a core, or by SIGKILL.
  bool crash = false;
  // One of these units of systemd's fails; a service that has no `.service` in its name is meant, too.
  static constexpr size_t kMostUnits = 64;
  std::vector<std::string> failed_units = {};
  template <class Self, class F> static void fields(Self& s, F&& f) {
    f.optional("crash", s.crash);
    f.optional("failed_units", s.failed_units);
  }
};

struct RecorderPart {
  RecorderBoundPart bound;
  DumpOnPart dump_on = {};
  uint64_t dumps_left_out = 0;                // as another had been made shortly before
  uint64_t bytes = 0;                         // of memory that it takes
  uint64_t events = 0;                        // that it holds
  uint64_t lost = 0;                          // that are missing between these
  uint64_t overwritten = 0;                   // events that it held before
  std::optional<uint64_t> first_ts, last_ts;  // of what it holds, ns since boot
  template <class Self, class F> static void fields(Self& s, F&& f) {
    f("bound", s.bound);
    f("dump_on", s.dump_on);
    f("dumps_left_out", s.dumps_left_out);
    f("bytes", s.bytes);
    f("events", s.events);
    f("lost", s.lost);
    f("overwritten", s.overwritten);
    f("first_ts", s.first_ts);
    f("last_ts", s.last_ts);
  }
};

// A file that was armed because a process in a cgroup of the session's has executed it.
struct FollowedPart {
  std::string object;
  std::string cgroup;
  int64_t pid = 0;             // that executed it first
  uint64_t ts = 0;             // when, ns since boot
  uint64_t unobserved_us = 0;  // from then to the switch: its hits in that time were not seen
  template <class Self, class F> static void fields(Self& s, F&& f) {
    f("object", s.object);
    f("cgroup", s.cgroup);
    f("pid", s.pid);
    f("ts", s.ts);
    f("unobserved_us", s.unobserved_us);
  }
};

// While no daemon ran, nothing was counted or streamed. It is this long at most, as when the daemon before ended
// is known to a second where it was killed.
struct GapPart {
  uint64_t since = 0, until = 0;  // ns since boot
  uint64_t ns = 0;                // between them
  template <class Self, class F> static void fields(Self& s, F&& f) {
    f("since", s.since);
    f("until", s.until);
    f("ns", s.ns);
  }
};

// What was left out, as nobody has proven that the session's user may see it: session.prove.
struct UnprovenPart {
  uint64_t processes = 0, hits = 0;
  template <class Self, class F> static void fields(Self& s, F&& f) {
    f("processes", s.processes);
    f("hits", s.hits);
  }
};

struct SessionPart {
  std::string name;
  bool named = true;                  // false: ends with the connection that made it
  std::optional<uint64_t> user = {};  // whose it is, if that user may not trace every process
  bool saved = false;                 // it goes on with the next daemon
  bool paused = false;                // its sites are armed, and nothing is counted
  std::vector<std::string> triggered_by = {};     // sessions that let it speak, or silence it
  std::vector<SettingPart> settings;              // in force
  std::optional<std::vector<SettingPart>> draft;  // staged and not committed
  uint64_t epoch = 0;                             // of its last commit, 0 if none
  uint64_t probes = 0, sites = 0;                 // armed
  uint64_t hits = 0;                              // by the targets = filtered + taken
  uint64_t filtered = 0;                          // by conditions, samples and limits
  uint64_t silenced = 0;    // of those taken, events: of threads that a spec has silenced
  uint64_t lost = 0;        // events
  uint64_t marks_lost = 0;  // threads that found no memory for marks or tags
  std::optional<UnprovenPart> unproven = {};  // of a user's session, if there is any
  std::optional<double> budget = {};          // what its hits may cost, in percent of one CPU
  std::optional<std::vector<LeftOutPart>> left_out = {};  // for that, the earliest first
  std::optional<RecorderPart> recorder = {};
  std::vector<FollowedPart> followed = {};  // the last 64, the earliest first
  // Of one that has gone on with this daemon: counts and events are those since.
  std::optional<GapPart> gap = {};
  std::vector<std::string> not_resumed = {};  // what of it has not, and why
  template <class Self, class F> static void fields(Self& s, F&& f) {
    f("name", s.name);
    f("named", s.named);
    f("user", s.user);
    f("saved", s.saved);
    f("paused", s.paused);
    f("triggered_by", s.triggered_by);
    f("settings", s.settings);
    f("draft", s.draft);
    f("epoch", s.epoch);
    f("probes", s.probes);
    f("sites", s.sites);
    f("hits", s.hits);
    f("filtered", s.filtered);
    f("silenced", s.silenced);
    f("lost", s.lost);
    f("marks_lost", s.marks_lost);
    f("unproven", s.unproven);
    f("budget", s.budget);
    f("left_out", s.left_out);
    f("recorder", s.recorder);
    f("followed", s.followed);
    f("gap", s.gap);
    f("not_resumed", s.not_resumed);
  }
};

}  // namespace tracectl::protocol
