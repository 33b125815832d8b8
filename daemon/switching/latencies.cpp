// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/switching/latencies.h"

#include <algorithm>

#include "daemon/switching/key_value.h"

namespace tracectl {
namespace {

LatencyKey key_of(const Setting& setting) {
  return {to_string(setting.latency->from), to_string(setting.pattern),
          keys_text(setting.latency->by)};
}

SlowPair slow_pair(const tc_slow& slow, const std::vector<AggregateMeaning::Key>& keys,
                   const Texts& texts) {
  SlowPair pair{.duration_ns = slow.duration_ns,
                .ended_ns = slow.ended_ns,
                .from_pid = static_cast<pid_t>(slow.from_pid),
                .from_tid = static_cast<pid_t>(slow.from_tid),
                .to_pid = static_cast<pid_t>(slow.to_pid),
                .to_tid = static_cast<pid_t>(slow.to_tid)};
  for (size_t i = 0; i < keys.size() && i < TC_KEY_PARTS; ++i)
    pair.by.push_back({keys[i].name, value_of(slow.part[i], keys[i], texts)});
  return pair;
}

LatencyResult result_of(const tc_pair_stat& stat, const SessionHook& held, const Texts& texts) {
  LatencyResult result{.started = stat.started,
                       .overwritten = stat.overwritten,
                       .matched = stat.matched,
                       .unmatched = stat.unmatched,
                       .unread = stat.unread,
                       .dropped = stat.dropped,
                       .unlisted = stat.unlisted,
                       .wanted = held.setting->latency->slowest};
  const auto& keys = (*held.hook.spec)->matched_by;
  const uint32_t listed = std::min<uint32_t>(stat.listed, TC_MAX_SLOWEST);
  for (uint32_t i = 0; i < listed; ++i)
    result.slowest.push_back(slow_pair(stat.slowest[i], keys, texts));
  return result;
}

bool is_side(const SessionHook* held) { return held->hook.pair != nullptr; }

}  // namespace

// Reads the ends before the starts: the start of a pair that is matched meanwhile must not be missed.
Status add_latencies(const Counters& counters, const std::vector<const SessionHook*>& hooks,
                     Latencies& latencies) {
  std::vector<std::pair<const SessionHook*, tc_pair_stat>> stats;
  for (const uint32_t side : {uint32_t{TC_PAIR_TO}, uint32_t{TC_PAIR_FROM}})
    for (const SessionHook* held : hooks) {
      const bool ends = held->hook.pair_sides & TC_PAIR_TO;
      if (is_side(held) && ends == (side == TC_PAIR_TO))
        stats.emplace_back(held, counters.read_pair_stat(held->hook.stat));
    }
  if (stats.empty()) return ok();
  auto texts = counters.read_texts();
  if (!texts) return texts.error();
  for (const auto& [held, stat] : stats)
    latencies[key_of(*held->setting)].add(result_of(stat, *held, *texts));
  return ok();
}

Latencies carried_over(const Latencies& read) {
  Latencies carried;
  for (const auto& [key, result] : read)
    if (const uint64_t open = result.open()) carried[key].carried = open;
  return carried;
}

}  // namespace tracectl
