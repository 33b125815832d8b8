// SPDX-License-Identifier: BSD-2-Clause
//
// probe.list and probe.info. The rules of these structs: daemon/protocol/messages.h.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "daemon/protocol/messages/parts.h"

namespace tracectl::protocol {

// ---- probe.list: what can be traced; arms nothing ----

struct ProbeListReply {
  std::vector<ProbePart> probes;  // sorted by name
  std::vector<RefusalPart> refused;
  uint64_t total_probes = 0, total_sites = 0;
  template <class Self, class F> static void fields(Self& s, F&& f) {
    f("probes", s.probes);
    f("refused", s.refused);
    f("total_probes", s.total_probes);
    f("total_sites", s.total_sites);
  }
};
struct ProbeList {
  static constexpr const char* kMethod = "probe.list";
  using Reply = ProbeListReply;
  std::vector<std::string> patterns;
  std::string scope = "local";
  TargetPart target;
  std::vector<std::string> files = {};  // as of stage.set, for this request
  // As of session.prove, for this request: behind those of `files`, 128 with these.
  uint64_t proofs = 0;
  template <class Self, class F> static void fields(Self& s, F&& f) {
    f("patterns", s.patterns);
    f.optional("scope", s.scope);
    f.optional("target", s.target);
    f.optional("files", s.files);
    f.optional("proofs", s.proofs);
  }
};

// ---- probe.info: what is set on these probes ----

// One of the two copies that the sites keep of their settings, as the BPF programs read it.
struct GenerationPart {
  uint64_t generation = 0;  // 0 or 1
  bool active = false;      // the one in force
  uint64_t sites = 0;       // at which it has this setting; 0 while the session is paused
  template <class Self, class F> static void fields(Self& s, F&& f) {
    f("generation", s.generation);
    f("active", s.active);
    f("sites", s.sites);
  }
};
// What a session has set on a probe. With session, pattern, scope, target, do and when stage.set
// sets it again.
struct ProbeSetting {
  std::string probe;
  std::string session;
  std::string pattern;  // of the setting that holds here
  std::string scope;
  std::string action;
  std::optional<std::string> when = {};
  TargetPart target;
  bool paused = false;  // the session is
  // How returns are seen, where they are: "trampoline" or "exits", and why so.
  std::optional<std::string> returns = {}, returns_because = {};
  bool may_wait = false;  // hits wait for memory that is not there and that is read here
  // Of one that measures from one probe to another, of which this is either.
  std::optional<std::string> from = {}, by = {};
  std::optional<uint64_t> slowest = {};
  uint64_t sites = 0;
  uint64_t epoch = 0;  // under which it came into force
  uint64_t hits = 0;
  std::optional<std::vector<GenerationPart>> generations;  // where they were asked for
  template <class Self, class F> static void fields(Self& s, F&& f) {
    f("probe", s.probe);
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
  std::string pattern;  // compared with the names of armed probes
  std::string scope = "local";
  bool generations = false;  // what each of the two has, too
  template <class Self, class F> static void fields(Self& s, F&& f) {
    f("pattern", s.pattern);
    f.optional("scope", s.scope);
    f.optional("generations", s.generations);
  }
};

}  // namespace tracectl::protocol
