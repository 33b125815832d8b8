// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <vector>

#include "daemon/model/field_path.h"
#include "daemon/model/pattern.h"
#include "daemon/model/probe.h"
#include "daemon/model/setting.h"
#include "daemon/model/site_costs.h"
#include "daemon/object/object_file.h"

namespace tracectl {

// The matches of a pattern in one object. Each site was checked as far as the file allows: it is an
// instruction's start, the kernel accepts it, and it has no live red zone. Others are refused with
// the reason.
struct ProbeMatch {
  std::vector<Probe> probes;  // sorted by name
  std::vector<Refusal> refused;
  bool depends_on_nops = false;  // other `nops` may give another answer
  std::vector<std::string> notes =
      {};                     // about what was left out, or is armed elsewhere than the name says
  std::string why_none = {};  // if nothing matches: what is near, or what excludes it
  // With Below::with_imports: the functions of other files that those below the pattern's may call, by name; at most
  // kMostReached.
  std::vector<std::string> imports = {};
};
inline constexpr size_t kMostMatchNotes = 8;

// The limits of an answer: sites and refusals, and the bytes of their texts and fields.
struct MatchBounds {
  size_t matches = SIZE_MAX;
  size_t bytes = SIZE_MAX;

  bool operator==(const MatchBounds&) const = default;
};

// Counts against these limits.
class MatchCount {
 public:
  void add(const Probe& probe);
  void add(const Refusal& refusal);
  void add(const ProbeMatch& match);
  // Fails with Code::exhausted beyond the limits.
  Status check(const MatchBounds& most) const;
  size_t matches() const { return matches_; }

 private:
  void add_fields(const Argument& argument);

  size_t matches_ = 0;
  size_t bytes_ = 0;
  std::set<const void*> fields_;  // those in bytes_: functions share them
};

inline constexpr size_t kMostReached = 1000;

// Selects functions below those that the pattern names.
struct Below {
  // Functions that can be reached by calls from those that the pattern names, without these; at
  // most `most`, those nearest by direct calls first. If there are more, slow ones are left out.
  bool reached = false;
  std::vector<std::string> skip = {};       // not these; globs
  std::optional<uint32_t> most_calls = {};  // on the way there
  std::vector<Pattern> grown = {};          // functions of the file to be added as roots
  size_t most = kMostReached;
  // Not the functions, but those calls, in them and in the functions that the pattern names, whose
  // targets the file does not show. Argument 0 is the target.
  bool unknown_calls = false;
  bool with_imports = false;  // also says ProbeMatch::imports; with `reached`
  std::vector<std::string> named =
      {};  // not `reached`: the functions with these symbols, and no others

  bool operator==(const Below&) const = default;
  template <class Self, class F> static void fields(Self& s, F&& f) {
    f("reached", s.reached);
    f("skip", s.skip);
    f("most_calls", s.most_calls);
    f("grown", s.grown);
    f("most", s.most);
    f("unknown_calls", s.unknown_calls);
    f("with_imports", s.with_imports);
    f("named", s.named);
  }
};

// With `returns`, the sites are those at which calls can be followed until they return; others are
// refused. With `below`, the functions are those that it selects. `costs`: of the machine. `fields`: those
// that arguments and results get, as far as they have them (field_finder.h).
Result<ProbeMatch> find_probes(const ObjectFilePtr& object, const Pattern& pattern,
                               std::optional<Returns> returns = std::nullopt,
                               const Below* below = nullptr, const SiteCosts& costs = {},
                               const FieldsAsked& fields = {});

}  // namespace tracectl
