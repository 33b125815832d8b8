// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <string>
#include <vector>

#include "daemon/finding/coverage.h"

namespace tracectl {

// Functions with one address: names of one function, or equal functions that a linker has folded. What a pattern
// chooses there is wanted once, under one of the names, because a hit does not tell them apart.
class SharedSites {
 public:
  // Leaves one name of those that the same settings want at a slot.
  void join(Wants& wants);
  // Names the first few that were left; empty if none was.
  std::vector<std::string> notes() const;

 private:
  static constexpr size_t kMostNamed = 3;

  std::vector<std::string> named_;  // the first few, as "NAME as OTHER"
  size_t left_ = 0;
};

}  // namespace tracectl
