// SPDX-License-Identifier: BSD-2-Clause
//
// probe.list and probe.info. The rules for these structs: daemon/protocol/messages.h.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "daemon/model/refusal.h"
#include "daemon/protocol/messages/parts.h"

namespace tracectl::protocol {

// ---- probe.list: what can be traced; arms nothing ----

struct ProbeListReply {
  std::vector<ProbePart> probes;  // sorted by name
  std::vector<Refusal> refused;
  uint64_t total_probes = 0, total_sites = 0;
  std::vector<std::string> notes = {};
  // If `returns` is given: what a call takes from the program by estimate, the mean over the sites, in nanoseconds.
  uint64_t hit_ns = 0;
  template <class Self, class F> static void fields(Self& s, F&& f) {
    f("probes", s.probes);
    f("refused", s.refused);
    f("total_probes", s.total_probes);
    f("total_sites", s.total_sites);
    f("notes", s.notes);
    f.optional("hit_ns", s.hit_ns);
  }
};
struct ProbeList {
  static constexpr const char* kMethod = "probe.list";
  using Reply = ProbeListReply;
  std::vector<std::string> patterns;
  std::string scope = "local";
  TargetPart target;
  // As in stage.set: lists functions as they are traced if their calls are followed until they return.
  std::optional<std::string> returns = {};
  // Lists the fields that arguments lead to, so many levels deep, kMostFieldLevels at most.
  std::optional<uint64_t> types = {};
  // As in stage.set, for this request.
  std::vector<std::string> files = {};
  std::vector<DebugFilePart> debug_files = {};
  // As in session.prove, for this request: their descriptors follow those of the files, at most 128 in all.
  uint64_t proofs = 0;
  template <class Self, class F> static void fields(Self& s, F&& f) {
    f("patterns", s.patterns);
    f.optional("scope", s.scope);
    f.optional("target", s.target);
    f("returns", s.returns);
    f("types", s.types);
    f.optional("files", s.files);
    f.optional("debug_files", s.debug_files);
    f.optional("proofs", s.proofs);
  }
};

// ---- probe.info: the settings of armed probes ----

// One of the two copies of the sites' settings, as the BPF programs read it.
struct GenerationPart {
  uint64_t generation = 0;  // 0 or 1
  bool active = false;      // the one in force
  uint64_t sites = 0;       // that have this setting in it; 0 while the session is paused
  template <class Self, class F> static void fields(Self& s, F&& f) {
    f("generation", s.generation);
    f("active", s.active);
    f("sites", s.sites);
  }
};
// The settings of a session on a probe. stage.set with its session, pattern, scope, target, do and when sets
// the same again.
struct ProbeSetting {
  std::string probe;
  std::optional<std::string> demangled = {};  // added by tracectl
  std::string session;
  std::string pattern;  // of the setting in force here
  std::string scope;
  std::string action;
  std::optional<std::string> when = {};
  TargetPart target;
  bool paused = false;  // the session is paused
  // How returns are seen, if they are: "trampoline" or "exits", and why.
  std::optional<std::string> returns = {}, returns_because = {};
  bool may_wait = false;  // hits may wait for memory that is not resident and that is read here
  // For settings that measure from one probe to another, of which this is either.
  std::optional<std::string> from = {}, by = {};
  std::optional<uint64_t> slowest = {};
  uint64_t sites = 0;
  uint64_t epoch = 0;  // in which it came into force
  uint64_t hits = 0;
  std::optional<std::vector<GenerationPart>> generations;  // if requested
  template <class Self, class F> static void fields(Self& s, F&& f) {
    f("probe", s.probe);
    f("demangled", s.demangled);
    f("session", s.session);
    f("pattern", s.pattern);
    f("scope", s.scope);
    f("do", s.action);
    f("when", s.when);
    f("target", s.target);
    f("paused", s.paused);
    f("returns", s.returns);
    f("returns_because", s.returns_because);
    f("may_wait", s.may_wait);
    f("from", s.from);
    f("by", s.by);
    f("slowest", s.slowest);
    f("sites", s.sites);
    f("epoch", s.epoch);
    f("hits", s.hits);
    f("generations", s.generations);
  }
};
struct ProbeInfoReply {
  std::vector<ProbeSetting> settings;
  template <class Self, class F> static void fields(Self& s, F&& f) { f("settings", s.settings); }
};
struct ProbeInfo {
  static constexpr const char* kMethod = "probe.info";
  using Reply = ProbeInfoReply;
  std::string pattern;  // matched against the names of armed probes
  std::string scope = "local";
  bool generations = false;  // also return the two generations
  template <class Self, class F> static void fields(Self& s, F&& f) {
    f("pattern", s.pattern);
    f.optional("scope", s.scope);
    f.optional("generations", s.generations);
  }
};

}  // namespace tracectl::protocol
