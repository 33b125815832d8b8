// SPDX-License-Identifier: BSD-2-Clause
#include "client/render/call_sums.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "client/render/call_changes.h"

namespace tracectl {
namespace {

using namespace protocol;

FunctionSumsPart part_of(const CallTree::Function& function) {
  const CallFigures& figures = function.figures;
  FunctionSumsPart part{.name = function.name,
                        .calls = figures.calls,
                        .unwound = figures.unwound,
                        .without_end = figures.without_end()};
  if (!figures.timed) return part;
  part.total_ns = function.total_ns;
  part.self_ns = figures.self_ns;
  part.min_ns = figures.min_ns;
  part.max_ns = figures.max_ns;
  if (figures.probes_ns) part.probes_ns = figures.probes_ns;
  if (figures.split && function.total_ns == figures.total_ns) {
    part.running_ns = figures.running_ns;
    part.runnable_ns = figures.runnable_ns;
    part.blocked_ns = figures.blocked_ns;
    if (figures.split < figures.timed) part.unsplit = figures.timed - figures.split;
  }
  part.avg_ns = figures.average_ns();
  part.p50_ns = figures.bound_ns(50);
  part.p90_ns = figures.bound_ns(90);
  part.p99_ns = figures.bound_ns(99);
  return part;
}

CallPlacePart part_of(const CallTree::Place& place) {
  const CallFigures& figures = *place.figures;
  CallPlacePart part{.name = *place.name,
                     .depth = place.depth,
                     .calls = figures.calls,
                     .unwound = figures.unwound,
                     .without_end = figures.without_end()};
  if (!figures.timed) return part;
  part.total_ns = figures.total_ns;
  part.self_ns = figures.self_ns;
  return part;
}

std::vector<CallPlacePart> tree_of(const CallTree& calls) {
  std::vector<CallPlacePart> parts;
  std::vector<size_t> around;  // indexes of the places around this one
  for (const CallTree::Place& place : calls.places(CallTree::Order::time)) {
    around.resize(place.depth);
    if (!around.empty()) parts[around.back()].children.push_back(parts.size());
    around.push_back(parts.size());
    parts.push_back(part_of(place));
  }
  return parts;
}

std::optional<FunctionSumsPart> part_if_any(const CallTree::Function& function) {
  return function.figures.calls ? std::optional(part_of(function)) : std::nullopt;
}

// A recording may contain any number.
int64_t whole_ns(double ns) {
  constexpr double kMost = 1 << 30;
  constexpr double kMostNs = kMost * kMost;
  return static_cast<int64_t>(std::clamp(ns, -kMostNs, kMostNs));
}

FunctionChangePart part_of(const CallChange& change) {
  FunctionChangePart part{.name = change.name,
                          .before = part_if_any(change.before),
                          .after = part_if_any(change.after),
                          .change = {.self_ns = whole_ns(change.self_ns())}};
  if (change.is_of_both()) part.change.avg_ns = change.average_ns();
  return part;
}

}  // namespace

CallSumsPart sums_of(const CallTree& calls, bool with_tree) {
  CallSumsPart part;
  for (const CallTree::Function& function : calls.functions())
    part.functions.push_back(part_of(function));
  if (with_tree) part.tree = tree_of(calls);
  return part;
}

CallChangesPart compared(const CallTree& before, const CallTree& after) {
  CallChangesPart part;
  for (const CallChange& change : changes_of(before, after))
    part.functions.push_back(part_of(change));
  return part;
}

}  // namespace tracectl
