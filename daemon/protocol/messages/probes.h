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
  template <class Self, class F> static void fields(Self& s, F&& f) {
    f("patterns", s.patterns);
    f.optional("scope", s.scope);
    f.optional("target", s.target);
  }
};

// ---- probe.info: what is set on these probes ----

struct ProbeSetting {
  std::string probe;
  std::string session;
  std::string pattern;  // of the setting that holds here
  std::string action;
  TargetPart target;
  uint64_t sites = 0;
  uint64_t epoch = 0;  // under which it came into force
  uint64_t hits = 0;
  template <class Self, class F> static void fields(Self& s, F&& f) {
    f("probe", s.probe);
    f("session", s.session);
    f("pattern", s.pattern);
    f("do", s.action);
    f("target", s.target);
    f("sites", s.sites);
    f("epoch", s.epoch);
    f("hits", s.hits);
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
  template <class Self, class F> static void fields(Self& s, F&& f) {
    f("pattern", s.pattern);
    f.optional("scope", s.scope);
  }
};

}  // namespace tracectl::protocol
