// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <string>
#include <vector>

#include "client/render/call_tree.h"

namespace tracectl {

// How the calls of a function differ between two recordings.
struct CallChange {
  std::string name = {};
  CallTree::Function before = {};  // no calls: the function is in one of the recordings only
  CallTree::Function after = {};

  double self_ns() const;
  double average_ns() const { return after.figures.average_ns() - before.figures.average_ns(); }
  // Both recordings have averages to compare.
  bool is_of_both() const { return before.figures.timed && after.figures.timed; }
};

// Sorted by growth, the greatest first.
std::vector<CallChange> changes_of(const CallTree& before, const CallTree& after);

}  // namespace tracectl
