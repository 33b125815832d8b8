// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <optional>
#include <vector>

#include "daemon/model/pattern.h"
#include "daemon/model/probe.h"
#include "daemon/model/setting.h"
#include "daemon/trace/object.h"

namespace tracectl {

// What a pattern matches in one object, each site proven placeable as far as the file can tell:
// an instruction's start, accepted by the kernel, no live red zone. What is not is refused with
// the reason.
struct ProbeMatch {
  std::vector<Probe> probes;  // sorted by name
  std::vector<Refusal> refused;
};

// With `returns` the sites are those at which calls can be followed until they return; others are
// refused.
Result<ProbeMatch> find_probes(const Object& object, const Pattern& pattern,
                               std::optional<Returns> returns = std::nullopt);

// Whether a probe of this canonical name is one that the pattern names.
bool names_probe(const Pattern& pattern, const std::string& probe_name);

}  // namespace tracectl
