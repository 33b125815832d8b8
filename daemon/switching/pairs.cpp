// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/switching/pairs.h"

#include <algorithm>

namespace tracectl {
namespace {

// Their actions, and how many of the slowest are kept, may differ.
bool same_pair(const Setting& a, const Setting& b) {
  return &a == &b || (a.pattern == b.pattern && a.target == b.target && a.latency && b.latency &&
                      a.latency->from == b.latency->from && a.latency->by == b.latency->by);
}

}  // namespace

PairPtr Pairs::of(uint16_t session, const std::shared_ptr<const Setting>& setting, uint32_t saved) {
  std::erase_if(known_, [](const Known& known) { return known.pair.expired(); });
  const auto known = std::find_if(known_.begin(), known_.end(), [&](const Known& one) {
    return one.session == session && same_pair(*one.setting, *setting);
  });
  if (known != known_.end())
    if (PairPtr pair = known->pair.lock()) return pair;
  auto pair = std::make_shared<const Pair>(counters_, saved ? saved : ++last_number_, leaves_them_);
  known_.push_back({session, setting, pair});
  return pair;
}

}  // namespace tracectl
