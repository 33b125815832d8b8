// SPDX-License-Identifier: BSD-2-Clause
//
// stage.*: drafts and commits. The rules for these structs: daemon/protocol/messages.h.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "daemon/model/refusal.h"
#include "daemon/protocol/messages/parts.h"

namespace tracectl::protocol {

// A spec in its canonical text, and the cost of its expressions.
struct SpecPart {
  std::string action = {};
  std::optional<std::string> when = {}, keep_if = {};
  uint64_t instructions = 0;  // of the kernel's virtual machine: the most for one hit
  // How returns are seen: "trampoline" or "exits", and why.
  std::optional<std::string> returns = {}, returns_because = {};
  bool may_wait = false;  // hits may wait for memory that is not resident and that the spec reads
  template <class Self, class F> static void fields(Self& s, F&& f) {
    f("do", s.action);
    f("when", s.when);
    f("keep_if", s.keep_if);
    f("instructions", s.instructions);
    f("returns", s.returns);
    f("returns_because", s.returns_because);
    f("may_wait", s.may_wait);
  }
};
// The coverage of a pattern, as far as it is known before the commit.
struct StageReply {
  uint64_t settings = 0;  // in the draft now
  uint64_t probes = 0, sites = 0;
  std::vector<Refusal> refused;
  std::vector<std::string> notes;
  std::optional<SpecPart> spec = {};  // if requested, for the first of these sites
  template <class Self, class F> static void fields(Self& s, F&& f) {
    f("settings", s.settings);
    f("probes", s.probes);
    f("sites", s.sites);
    f("refused", s.refused);
    f("notes", s.notes);
    f("spec", s.spec);
  }
};
struct StageSet {
  static constexpr const char* kMethod = "stage.set";
  using Reply = StageReply;
  std::string session;
  std::vector<std::string> patterns;
  std::string scope = "local";
  TargetPart target;
  std::string action = "event";
  std::optional<std::string> when = {};  // only hits for which this holds
  std::string returns = "auto";          // how returns are seen: "auto", "trampoline" or "exits"
  // Measures the time from a hit of this probe to a hit of `patterns`, which must then be one pattern, with
  // the same values of the keys in `by`, by default "tid".
  std::optional<std::string> from = {};
  std::optional<std::string> by = {};
  std::optional<uint64_t> slowest = {};  // longest times to keep: 0 to 32, default 5
  std::optional<GraphPart> graph = {};   // what is shown below the calls, if `do` has `graph`
  bool explain = false;                  // answer with `spec`
  // Of arguments of USDT probes, for this setting: a `char *` is text. At most 2,048 probes.
  std::optional<std::vector<ProbeTypes>> types = {};
  // Absolute paths of files whose descriptors come with the request, in this order (SCM_RIGHTS): opened for
  // reading, regular, not on a FUSE file system. Probes are searched in these files, and armed through them,
  // also when the session is committed. A user who may not trace every process gets nothing from any other
  // file.
  std::vector<std::string> files = {};
  // Names and types of functions are read from these, also when the session is committed. One that has another
  // build id than it says is refused.
  std::vector<DebugFilePart> debug_files = {};
  template <class Self, class F> static void fields(Self& s, F&& f) {
    f("session", s.session);
    f("patterns", s.patterns);
    f.optional("scope", s.scope);
    f("target", s.target);
    f.optional("do", s.action);
    f("when", s.when);
    f.optional("returns", s.returns);
    f("from", s.from);
    f("by", s.by);
    f("slowest", s.slowest);
    f("graph", s.graph);
    f.optional("explain", s.explain);
    f("types", s.types);
    f.optional("files", s.files);
    f.optional("debug_files", s.debug_files);
  }
};
// Removes settings with these patterns (and, if given, this target) from the draft.
struct StageRemove {
  static constexpr const char* kMethod = "stage.remove";
  using Reply = StageReply;
  std::string session;
  std::vector<std::string> patterns;
  std::string scope = "local";
  std::optional<TargetPart> target;
  template <class Self, class F> static void fields(Self& s, F&& f) {
    f("session", s.session);
    f("patterns", s.patterns);
    f.optional("scope", s.scope);
    f("target", s.target);
  }
};

struct CommitReply {
  uint64_t epoch = 0;
  uint64_t probes = 0, sites = 0;                // of the session, armed now
  uint64_t added = 0, updated = 0, removed = 0;  // sites
  // What those added take by estimate: of the kernel's memory, and of code that each process that maps it gets its own
  // copy of.
  uint64_t kernel_bytes = 0, private_bytes = 0;
  // Of the session's sites those whose instruction the kernel single-steps at each hit; the probes where followed calls
  // end, and those of them that are single-stepped.
  uint64_t slow_sites = 0, exits = 0, slow_exits = 0;
  // What a hit takes from the program by estimate, with the end of the call that it begins: the mean over the sites.
  uint64_t hit_ns = 0;
  std::vector<Refusal> refused;  // the sites left out
  // For the user: for example, that a library is not covered in later processes.
  std::vector<std::string> notes;
  uint64_t lingering = 0;  // sites of all sessions: armed, but not used any more
  PhasesPart phases_us;
  std::vector<SkewPart> skew_ns;
  template <class Self, class F> static void fields(Self& s, F&& f) {
    f("epoch", s.epoch);
    f("probes", s.probes);
    f("sites", s.sites);
    f("added", s.added);
    f("updated", s.updated);
    f("removed", s.removed);
    f("kernel_bytes", s.kernel_bytes);
    f("private_bytes", s.private_bytes);
    f.optional("slow_sites", s.slow_sites);
    f.optional("exits", s.exits);
    f.optional("slow_exits", s.slow_exits);
    f.optional("hit_ns", s.hit_ns);
    f("refused", s.refused);
    f("notes", s.notes);
    f("lingering", s.lingering);
    f("phases_us", s.phases_us);
    f("skew_ns", s.skew_ns);
  }
};
struct StageCommit {
  static constexpr const char* kMethod = "stage.commit";
  using Reply = CommitReply;
  std::string session;
  // A site that is refused fails the commit, unless it fits a glob that fits others, too: it is left out then.
  bool partial = false;  // every one is left out
  bool strict = false;   // every one fails the commit
  // More sites than these that would be added fail the commit, with error "exhausted" and an estimate of what they take.
  std::optional<uint64_t> most_added = {};
  bool dry_run = false;  // resolve and check everything, arm nothing; epoch and phases are 0
  template <class Self, class F> static void fields(Self& s, F&& f) {
    f("session", s.session);
    f.optional("partial", s.partial);
    f.optional("strict", s.strict);
    f.optional("most_added", s.most_added);
    f.optional("dry_run", s.dry_run);
  }
};

struct GrowReply {
  uint64_t epoch = 0;              // in force
  std::vector<std::string> added;  // functions shown from now on; none: there was no commit
  std::vector<Refusal> refused;    // functions seen and not added, each reported once
  uint64_t unknown = 0;            // addresses called since the last time that begin no function
  template <class Self, class F> static void fields(Self& s, F&& f) {
    f("epoch", s.epoch);
    f("added", s.added);
    f("refused", s.refused);
    f("unknown", s.unknown);
  }
};
// Adds to graphs in force that have `grow` the functions that they were seen to call by computed addresses.
// Error "busy" if the session has a draft.
struct StageGrow {
  static constexpr const char* kMethod = "stage.grow";
  using Reply = GrowReply;
  std::string session;
  template <class Self, class F> static void fields(Self& s, F&& f) { f("session", s.session); }
};

// Gives the settings in force that chose these containers by name the cgroups that a client has found for them now, by a
// commit that leaves out what is refused. All else in the settings stays. Error "busy" if the session has a draft.
struct StageJoin {
  static constexpr const char* kMethod = "stage.join";
  using Reply = CommitReply;
  std::string session;
  ContainersPart containers;
  std::vector<std::string> files = {};  // as in stage.set
  template <class Self, class F> static void fields(Self& s, F&& f) {
    f("session", s.session);
    f("containers", s.containers);
    f.optional("files", s.files);
  }
};

struct StageAbort {
  static constexpr const char* kMethod = "stage.abort";
  using Reply = Empty;
  std::string session;
  template <class Self, class F> static void fields(Self& s, F&& f) { f("session", s.session); }
};

}  // namespace tracectl::protocol
