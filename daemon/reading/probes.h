// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "daemon/model/pattern.h"
#include "daemon/model/probe.h"
#include "daemon/model/setting.h"
#include "daemon/reading/object_file.h"

namespace tracectl {

// What a pattern matches in one object, each site proven placeable as far as the file can tell:
// an instruction's start, accepted by the kernel, no live red zone. What is not is refused with
// the reason.
struct ProbeMatch {
  std::vector<Probe> probes;  // sorted by name
  std::vector<Refusal> refused;
};

// How much of what matches an asker takes: sites and refusals, and the bytes of their texts.
struct MatchBounds {
  size_t matches = SIZE_MAX;
  size_t bytes = SIZE_MAX;

  bool operator==(const MatchBounds&) const = default;
};

// What of this has been taken so far.
class MatchCount {
 public:
  void add(const Probe& probe);
  void add(const Refusal& refusal);
  void add(const ProbeMatch& match);
  // Fails with Code::exhausted behind the bounds.
  Status check(const MatchBounds& most) const;
  size_t matches() const { return matches_; }

 private:
  size_t matches_ = 0;
  size_t bytes_ = 0;
};

inline constexpr size_t kMostReached = 1000;

// Which functions are meant, of those that are shown below the calls of others.
struct Below {
  // Those that can be reached by calls from the ones that the pattern names, without these; at most
  // `most`, those nearest by direct calls first. If there are more no slow ones are taken.
  bool reached = false;
  std::vector<std::string> skip = {};       // none of these, globs
  std::optional<uint32_t> most_calls = {};  // that lead there
  std::vector<Pattern> grown = {};          // these of the file too, and what is reached from them
  size_t most = kMostReached;
  // Not the functions, but the calls in them, and in those that the pattern names, of which the file
  // does not say where they lead. Argument 0 is where.
  bool unknown_calls = false;

  bool operator==(const Below&) const = default;
};

// With `returns` the sites are those at which calls can be followed until they return; others are
// refused. With `below` the functions are those that it makes of the pattern's.
Result<ProbeMatch> find_probes(const ObjectFilePtr& object, const Pattern& pattern,
                               std::optional<Returns> returns = std::nullopt,
                               const Below* below = nullptr);

// Whether a probe of this canonical name is one that the pattern names.
bool names_probe(const Pattern& pattern, const std::string& probe_name);

}  // namespace tracectl
