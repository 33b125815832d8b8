// SPDX-License-Identifier: BSD-2-Clause
//
// Parts of several messages. The rules for these structs: daemon/protocol/messages.h.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "daemon/model/argument.h"
#include "daemon/model/probe_types.h"

namespace tracectl::protocol {

struct Empty {
  template <class Self, class F> static void fields(Self&, F&&) {}
};

// The most files that one request brings as descriptors. A Unix socket takes 253 at a time.
inline constexpr size_t kMostFilesOfRequest = 128;
inline constexpr uint64_t kMostProofsOfRequest = 128;

// A debug file that a user has named: of the files with this build id, in hex. Its descriptor follows those of
// `files`, under the same rules; both lists together have at most 128.
struct DebugFilePart {
  std::string path;
  std::string build_id;
  template <class Self, class F> static void fields(Self& s, F&& f) {
    f("path", s.path);
    f("build_id", s.build_id);
  }
};

// Containers by their names. The daemon keeps the names for the client that looks up what is created later under them
// (tracectl join); they trace nothing by themselves.
struct ContainersPart {
  std::vector<std::string> names = {};
  std::vector<std::string> pods = {};  // NAMESPACE/NAME
  std::vector<std::string> cgroups =
      {};  // of those that run: as in TargetPart, but they may be gone
  template <class Self, class F> static void fields(Self& s, F&& f) {
    f.optional("names", s.names);
    f.optional("pods", s.pods);
    f.optional("cgroups", s.cgroups);
  }
};

// The processes, like Target of the model; an empty target is allowed for listing by path.
struct TargetPart {
  std::vector<int64_t> pids;
  std::vector<std::string> executables;  // absolute paths
  bool all = false;
  // For a single process in `pids` that waits before its execve: absolute paths of the files that it will
  // map, its executable first. For tracectl -- COMMAND.
  std::vector<std::string> will_map;
  // Which children of `pids`, forked later, are included: "children", "first_child"; none: no child.
  std::optional<std::string> follow = {};
  // Every process in or below these cgroups of version 2, now or later: paths from the root of their
  // hierarchy.
  std::vector<std::string> cgroups = {};
  std::vector<std::string> units = {};  // systemd units, "ssh.service": as their cgroups
  std::optional<ContainersPart> containers = {};
  template <class Self, class F> static void fields(Self& s, F&& f) {
    f.optional("pids", s.pids);
    f.optional("executables", s.executables);
    f.optional("all", s.all);
    f.optional("will_map", s.will_map);
    f("follow", s.follow);
    f.optional("cgroups", s.cgroups);
    f.optional("units", s.units);
    f("containers", s.containers);
  }
};

struct SitePart {
  std::string object;        // path of the ELF file
  std::string build_id;      // hex, empty if the file has none
  uint64_t offset = 0;       // of the probed instruction, in the file
  uint64_t moved_bytes = 0;  // distance from the function's start or the named offset
  std::string cost;          // "fast", "normal", "emulated", "slow"; the class of this site
  std::optional<uint64_t> semaphore;  // offset in the file
  // How the returns of calls are seen, "trampoline" or "exits", if the request asks; the exits that get probes of their
  // own, and how many of these are slow.
  std::optional<std::string> returns = {};
  uint64_t exits = 0, slow_exits = 0;
  template <class Self, class F> static void fields(Self& s, F&& f) {
    f("object", s.object);
    f("build_id", s.build_id);
    f("offset", s.offset);
    f("moved_bytes", s.moved_bytes);
    f("cost", s.cost);
    f("semaphore", s.semaphore);
    f("returns", s.returns);
    f.optional("exits", s.exits);
    f.optional("slow_exits", s.slow_exits);
  }
};

// A field that an argument leads to.
struct FieldPart {
  std::string path;  // as expressions write it: `arg.req->uri.len`
  std::string type;  // as in ArgumentPart; of a bit field with its bits, `u8:5`
  std::optional<std::string> declared_type = {};
  std::optional<std::string> why_not = {};  // why expressions cannot have its value
  template <class Self, class F> static void fields(Self& s, F&& f) {
    f("path", s.path);
    f("type", s.type);
    f("declared_type", s.declared_type);
    f("why_not", s.why_not);
  }
};

struct ArgumentPart {
  std::string name;   // of the parameter; arg0... if not known
  std::string type;   // "s32", "u64", "f64"; of what is no single number as `declared_type`
  std::string place;  // as in the note: -4@112(%rsp); the register for functions; or why unreadable
  bool readable = true;
  // "integer", "float", "boolean", "character", "enumeration", "pointer", "text" (the address of a C
  // string), "aggregate" (no single number), "void" (a function returns nothing)
  std::string kind;
  std::optional<std::string> declared_type;            // in C; if debug information has it
  std::optional<Enumerators> enumerators;              // only in the notification `probe`
  std::optional<std::vector<FieldPart>> members = {};  // only in probe.list with `types`
  template <class Self, class F> static void fields(Self& s, F&& f) {
    f("name", s.name);
    f("type", s.type);
    f("place", s.place);
    f("readable", s.readable);
    f("kind", s.kind);
    f("declared_type", s.declared_type);
    f("enumerators", s.enumerators);
    f("fields", s.members);
  }
};

struct ProbePart {
  std::string probe;  // canonical name
  std::string cost;   // the highest class of its sites
  std::optional<std::string> demangled;
  std::vector<SitePart> sites;
  std::vector<ArgumentPart> args;  // of the first site
  // The function's, with the name `retval`; only in probe.list with `types`, and if something is known of it.
  std::optional<ArgumentPart> result = {};
  template <class Self, class F> static void fields(Self& s, F&& f) {
    f("probe", s.probe);
    f("class", s.cost);
    f("demangled", s.demangled);
    f("sites", s.sites);
    f("args", s.args);
    f("result", s.result);
  }
};

// What is shown below the calls of a graph.
struct GraphPart {
  std::vector<std::string> only = {};    // patterns of functions; none: all reachable ones
  std::vector<std::string> skip = {};    // globs of functions that are left out
  std::vector<std::string> beside = {};  // patterns of USDT probes that are shown when they fire
  bool imports = false;  // the functions of libraries that they call, too; not with `only`
  bool grow = false;     // stage.grow adds functions; not with `only`
  // What is within a call is shown only if this holds at its end.
  std::optional<std::string> keep_if = {};
  template <class Self, class F> static void fields(Self& s, F&& f) {
    f.optional("only", s.only);
    f.optional("skip", s.skip);
    f.optional("beside", s.beside);
    f.optional("imports", s.imports);
    f.optional("grow", s.grow);
    f("keep_if", s.keep_if);
  }
};

// One staged setting: pattern + target + spec.
struct SettingPart {
  std::string pattern;
  std::string scope;  // "local", "global" or "inlined"
  TargetPart target;
  std::string action;                       // the spec: the value of --do
  std::optional<std::string> when = {};     // its condition: the value of --when
  std::optional<std::string> returns = {};  // how returns are seen: the value of --returns
  // For settings that measure from one probe to another.
  std::optional<std::string> from = {}, by = {};
  std::optional<uint64_t> slowest = {};
  std::optional<GraphPart> graph = {};  // if the spec has `graph`
  std::optional<std::vector<ProbeTypes>> types = {};
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
    f("types", s.types);
  }
};

// How long the phases of a switch took, in microseconds; `switch` is the store itself.
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

// When each CPU first saw the new epoch: ns from the store to its first hit under it. CPUs without a hit
// until the end of the wait after the switch are not listed.
struct SkewPart {
  uint64_t cpu = 0;
  uint64_t ns = 0;
  template <class Self, class F> static void fields(Self& s, F&& f) {
    f("cpu", s.cpu);
    f("ns", s.ns);
  }
};

// A probe that a session has left out, because its hits cost more than the session's budget.
struct LeftOutPart {
  std::string probe;
  std::string cost;              // the highest class of its sites
  uint64_t hits_per_second = 0;  // in the period before
  double percent = 0;            // of one CPU: their estimated cost
  double budget = 0;
  uint64_t others = 0;  // probes that are useless without it, and were left out, too
  template <class Self, class F> static void fields(Self& s, F&& f) {
    f("probe", s.probe);
    f("class", s.cost);
    f("hits_per_second", s.hits_per_second);
    f("percent", s.percent);
    f("budget", s.budget);
    f("others", s.others);
  }
};

// The bound of a session's flight recorder: it keeps the last events that fit into this many bytes of memory,
// and that are not older than this. At least one of the two is given.
struct RecorderBoundPart {
  static constexpr uint64_t kLeastBytes = 1 << 20, kMostBytes = uint64_t{4} << 30;
  static constexpr uint64_t kBytesOfTime = 256 << 20;  // if only a time is given
  static constexpr double kLeastSeconds = 0.01, kMostSeconds = 86400;
  std::optional<uint64_t> bytes = {};
  std::optional<double> seconds = {};
  template <class Self, class F> static void fields(Self& s, F&& f) {
    f("bytes", s.bytes);
    f("seconds", s.seconds);
  }
};

// Causes of automatic dumps of a flight recorder, to the daemon's directory of dumps.
struct DumpOnPart {
  // A process that a setting has chosen by its number, its executable or its parent ends by a signal that
  // dumps core, or by SIGKILL.
  bool crash = false;
  // Such a process ends by one of these signals, 1 to 64, or exits with one of these statuses, 1 to 255.
  // Absent if there are none, so that a daemon that does not know them reads what it can do.
  static constexpr size_t kMostEnds = 255;
  std::optional<std::vector<int64_t>> signals = {}, exit_statuses = {};
  // One of these systemd units fails. A name without a suffix stands for a service.
  static constexpr size_t kMostUnits = 64;
  std::vector<std::string> failed_units = {};
  template <class Self, class F> static void fields(Self& s, F&& f) {
    f.optional("crash", s.crash);
    f("signals", s.signals);
    f("exit_statuses", s.exit_statuses);
    f.optional("failed_units", s.failed_units);
  }
};

struct RecorderPart {
  RecorderBoundPart bound;
  DumpOnPart dump_on = {};
  uint64_t dumps_left_out = 0;                // because of another dump shortly before
  std::optional<std::string> last_dump = {};  // file of the last automatic dump that was written
  uint64_t bytes = 0;                         // of memory in use
  uint64_t events = 0;                        // in memory
  uint64_t lost = 0;                          // missing between these
  uint64_t overwritten = 0;                   // events dropped from memory
  std::optional<uint64_t> first_ts, last_ts;  // of the events in memory, ns since boot
  template <class Self, class F> static void fields(Self& s, F&& f) {
    f("bound", s.bound);
    f("dump_on", s.dump_on);
    f("dumps_left_out", s.dumps_left_out);
    f("last_dump", s.last_dump);
    f("bytes", s.bytes);
    f("events", s.events);
    f("lost", s.lost);
    f("overwritten", s.overwritten);
    f("first_ts", s.first_ts);
    f("last_ts", s.last_ts);
  }
};

// A file that was armed because a process in one of the session's cgroups has executed it.
struct FollowedPart {
  std::string object;
  std::string cgroup;
  int64_t pid = 0;             // the first that executed it
  uint64_t ts = 0;             // the time of that, ns since boot
  uint64_t unobserved_us = 0;  // from then to the switch: hits in that time were not seen
  template <class Self, class F> static void fields(Self& s, F&& f) {
    f("object", s.object);
    f("cgroup", s.cgroup);
    f("pid", s.pid);
    f("ts", s.ts);
    f("unobserved_us", s.unobserved_us);
  }
};

// A time without a daemon, in which nothing was counted or streamed. It is the maximum: if the last daemon
// was killed, its end is known to a second.
struct GapPart {
  uint64_t since = 0, until = 0;  // ns since boot
  uint64_t ns = 0;                // the difference
  template <class Self, class F> static void fields(Self& s, F&& f) {
    f("since", s.since);
    f("until", s.until);
    f("ns", s.ns);
  }
};

// What was left out because nobody has proven that the session's user may see it: session.prove.
struct UnprovenPart {
  uint64_t processes = 0, hits = 0;
  template <class Self, class F> static void fields(Self& s, F&& f) {
    f("processes", s.processes);
    f("hits", s.hits);
  }
};

struct SessionPart {
  std::string name;
  bool named = true;                  // false: it ends with the connection that made it
  std::optional<uint64_t> user = {};  // its owner, if that user may not trace every process
  bool saved = false;                 // it goes on with the next daemon
  bool paused = false;                // its sites are armed, but nothing is counted
  std::vector<std::string> triggered_by = {};  // sessions that start or silence its output
  std::vector<SettingPart> settings;           // in force
  std::optional<bool> streams =
      {};  // whether one of these streams events; absent from older daemons
  std::optional<std::vector<SettingPart>> draft;  // staged, not committed
  uint64_t epoch = 0;                             // of its last commit; 0: none
  uint64_t probes = 0, sites = 0;                 // armed
  uint64_t hits = 0;                              // in the targets = filtered + taken
  uint64_t filtered = 0;                          // by conditions, samples and limits
  uint64_t silenced = 0;    // of those taken, events of threads that a spec has silenced
  uint64_t lost = 0;        // events
  uint64_t marks_lost = 0;  // threads for whose marks or tags there was no memory
  std::optional<UnprovenPart> unproven = {};  // of a user's session, if anything was left out
  std::optional<double> budget = {};          // limit for its hits, in percent of one CPU
  std::optional<std::vector<LeftOutPart>> left_out = {};  // for the budget, in order of time
  std::optional<RecorderPart> recorder = {};
  std::vector<FollowedPart> followed = {};  // the last 64, the earliest first
  // For a session continued by this daemon: its counts and events are those since.
  std::optional<GapPart> gap = {};
  std::vector<std::string> not_resumed = {};  // parts that were not continued, and why
  template <class Self, class F> static void fields(Self& s, F&& f) {
    f("name", s.name);
    f("named", s.named);
    f("user", s.user);
    f("saved", s.saved);
    f("paused", s.paused);
    f("triggered_by", s.triggered_by);
    f("settings", s.settings);
    f("streams", s.streams);
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
