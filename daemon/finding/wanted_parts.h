// SPDX-License-Identifier: BSD-2-Clause
//
// The parts of a coverage: what one pattern of a setting covers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "daemon/finding/coverage.h"

namespace tracectl {

// A setting, and the user's setting that it is for.
struct Source {
  size_t of = 0;
  Beside what = Beside::nothing;
  std::shared_ptr<const Setting> setting;
  bool of_one_file = false;
};

// A user's setting, and its place in the list.
struct Root {
  size_t place;
  const Setting& setting;

  Source source(Beside what) const {
    return {place, what, std::make_shared<const Setting>(beside(setting, what))};
  }
};

// Adds the probes that fit the pattern in the target of the source's setting. `sides`: the sides of the setting's pair that
// the pattern's probes are; 0 if it has no pair.
Status add_pattern(const ResolverFor& resolver, const Pattern& pattern, const Source& source,
                   uint32_t sides, Coverage& coverage, const Below* below = nullptr);

}  // namespace tracectl
