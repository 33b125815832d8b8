// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/switching/results.h"

#include <algorithm>
#include <new>

#include "daemon/switching/key_value.h"
#include "daemon/switching/latencies.h"

namespace tracectl {
namespace {

using HooksByStat = std::unordered_map<uint32_t, const SessionHook*>;

constexpr uint64_t kSign = uint64_t{1} << 63;
constexpr unsigned kMostPartBits = (1u << TC_KEY_PARTS) - 1;

// Hits of hooks that the engine added do not count as the user's.
bool is_reported(const SessionHook& held) {
  return !held.setting->spec.learns_tags && !held.setting->spec.sees_callees;
}

bool has_keys(const SessionHook& held) {
  return held.hook.spec &&
         (!(*held.hook.spec)->aggregates.empty() || (*held.hook.spec)->follows_calls);
}

// A count without keys is the number of hits that the spec has let pass.
void add_row(const SessionHook& held, const tc_stat& stat, Results& results) {
  if (held.hook.pair || is_all_at_return(held.setting->spec))
    return;  // an aggregate counts what is taken
  for (const Aggregate& aggregate : held.setting->spec.aggregates)
    if (aggregate.kind == Aggregate::Kind::count && aggregate.by.empty())
      results.rows[{*held.probe, "count"}].count += stat.hits - stat.filtered;
}

// Reads the rows of some hooks from the kernel's tables.
class KeyedRows {
 public:
  explicit KeyedRows(HooksByStat hooks) : hooks_(std::move(hooks)) {}

  Status read(const Counters& counters, Results& results) {
    if (hooks_.empty()) return ok();
    auto counts = counters.read_counts();
    if (!counts) return counts.error();
    auto sums = counters.read_sums();
    if (!sums) return sums.error();
    auto times = counters.read_times();
    if (!times) return times.error();
    auto texts = counters.read_texts();
    if (!texts) return texts.error();
    texts_ = std::move(*texts);
    counters_ = &counters;
    for (const KeyCount& count : *counts) {
      if (is_cut(count.key)) add_cut(count, results);
      if (const AggregateMeaning* meaning = meaning_of(count.key)) add(count, *meaning, results);
    }
    for (const KeyTime& time : *times)
      if (const AggregateMeaning* meaning = meaning_of(time.key)) add(time, *meaning, results);
    for (const KeySum& sum : *sums)
      if (const AggregateMeaning* meaning = meaning_of(sum.key)) add(sum, *meaning, results);
    return ok();
  }

  const std::vector<tc_key>& counts() const { return counts_; }
  const std::vector<tc_key>& sums() const { return sums_; }
  const std::vector<tc_key>& times() const { return times_; }

 private:
  // Null if the key belongs to none of the hooks.
  const AggregateMeaning* meaning_of(const tc_key& key) const {
    const auto held = hooks_.find(key.stat);
    if (held == hooks_.end()) return nullptr;
    const auto& aggregates = (*held->second->hook.spec)->aggregates;
    return key.aggregate < aggregates.size() ? &aggregates[key.aggregate] : nullptr;
  }

  Row& row_of(const tc_key& key, const AggregateMeaning& meaning, Results& results) const {
    RowKey row{*hooks_.at(key.stat)->probe, meaning.name, {}};
    for (size_t i = 0; i < meaning.by.size(); ++i) {
      const bool is_missing = key.missing & kMostPartBits & (1u << i);
      row.by.push_back({meaning.by[i].name, is_missing ? KeyValue{} : part_of(key, meaning, i)});
    }
    Row& found = results.rows[std::move(row)];
    found.shape = meaning.shape;
    return found;
  }

  KeyValue part_of(const tc_key& key, const AggregateMeaning& meaning, size_t i) const {
    const ValueType type = meaning.by[i].type;
    if (!is_stack(type)) return value_of(key.part[i], meaning.by[i], texts_);
    const auto stack = counters_->read_key_stack(key.part[i]);
    if (!stack) return {};
    const tc_spec& spec = (*hooks_.at(key.stat)->hook.spec)->kernel;
    return addresses_of(
        *stack, type == ValueType::caller || spec.aggregates[key.aggregate].at == TC_AT_END);
  }

  void add(const KeyCount& count, const AggregateMeaning& meaning, Results& results) {
    Row part{.shape = meaning.shape};
    if (count.key.missing & TC_CALL_UNWOUND) {
      part.unwound = count.count;
    } else if (count.key.missing & TC_VALUE_MISSING) {
      part.unread = count.count;
    } else {
      part.count = count.count;
      if (meaning.shape.kind != RowShape::Kind::count) part.buckets[count.key.bucket] = count.count;
    }
    row_of(count.key, meaning, results).add(part);
    counts_.push_back(count.key);
  }

  void add(const KeySum& sum, const AggregateMeaning& meaning, Results& results) {
    const uint64_t bias = meaning.shape.is_unsigned ? 0 : kSign;
    const Row part{.shape = meaning.shape,
                   .count = sum.sum.count,
                   .sum = sum.sum.sum,
                   .min = ~sum.sum.low ^ bias,
                   .max = sum.sum.high ^ bias};
    row_of(sum.key, meaning, results).add(part);
    sums_.push_back(sum.key);
  }

  void add(const KeyTime& of, const AggregateMeaning& meaning, Results& results) {
    const tc_time& time = of.time;
    Row part{.shape = meaning.shape,
             .count = time.count,
             .self = time.self,
             .probes = time.probes,
             .split = time.split,
             .running = time.running,
             .runnable = time.runnable,
             .blocked = time.blocked,
             .sum = time.total,
             .min = ~time.low,
             .max = time.high};
    for (unsigned i = 0; i < TC_TIME_BUCKETS; ++i)
      if (time.buckets[i]) part.buckets[i + 1] = time.buckets[i];  // as histograms number them
    row_of(of.key, meaning, results).add(part);
    times_.push_back(of.key);
  }

  bool is_cut(const tc_key& key) const {
    return key.aggregate == TC_NO_AGGREGATE && hooks_.contains(key.stat);
  }

  void add_cut(const KeyCount& count, Results& results) {
    results.totals.cut += count.count;
    counts_.push_back(count.key);
  }

  HooksByStat hooks_;
  const Counters* counters_ = nullptr;
  Texts texts_;
  std::vector<tc_key> counts_, sums_, times_;  // that belong to the hooks
};

bool keeps_paths(const SessionHook* held) { return has_path_keys(held->setting->spec); }

// Adds the session's paths, whether or not a row has been made of them yet.
Status add_paths(const Counters& counters, const Session& session,
                 const std::vector<const SessionHook*>& hooks, CallPaths& paths) {
  if (std::none_of(hooks.begin(), hooks.end(), keeps_paths)) return ok();
  auto numbered = counters.read_paths();
  if (!numbered) return numbered.error();
  std::unordered_map<uint32_t, const std::string*> probes;  // by source
  for (const auto& [key, source] : session.sources) probes.emplace(source, &std::get<0>(key));
  for (const NumberedPath& one : *numbered)
    if (const auto probe = probes.find(one.path.source); probe != probes.end())
      paths[one.number] = {*probe->second, one.path.around};
  return ok();
}

bool book(Counters& counters, const Session& session, const std::vector<const SessionHook*>& gone,
          Results& past) {
  if (!add_latencies(counters, gone, past.latencies)) return false;
  if (!add_paths(counters, session, gone, past.paths)) return false;
  HooksByStat keyed;
  for (const SessionHook* held : gone) {
    add_row(*held, counters.read_stat(held->hook.stat), past);
    if (has_keys(*held)) keyed.emplace(held->hook.stat, held);
  }
  KeyedRows rows{std::move(keyed)};
  if (!rows.read(counters, past)) return false;
  counters.delete_counts(rows.counts());
  counters.delete_sums(rows.sums());
  counters.delete_times(rows.times());
  return true;
}

}  // namespace

Result<Results> current_results(const Counters& counters, const Session& session) {
  Results results = session.past;
  HooksByStat keyed;
  std::vector<const SessionHook*> all;
  for (const auto& [slot, hooks] : session.hooks)
    for (const SessionHook& held : hooks) {
      all.push_back(&held);
      const tc_stat stat = counters.read_stat(held.hook.stat);
      if (!is_reported(held)) continue;
      results.totals.add(stat);
      add_row(held, stat, results);
      if (has_keys(held)) keyed.emplace(held.hook.stat, &held);
    }
  if (auto added = add_latencies(counters, all, results.latencies); !added) return added.error();
  if (auto added = KeyedRows{std::move(keyed)}.read(counters, results); !added)
    return added.error();
  // After the rows, so that each row's path exists.
  if (auto added = add_paths(counters, session, all, results.paths); !added) return added.error();
  return results;
}

Totals current_totals(const Counters& counters, const Session& session) {
  Totals totals = session.past.totals;
  for (const auto& [slot, hooks] : session.hooks)
    for (const SessionHook& held : hooks)
      if (is_reported(held)) totals.add(counters.read_stat(held.hook.stat));
  return totals;
}

bool retire(Counters& counters, Session& session, const std::vector<const SessionHook*>& gone) {
  for (const SessionHook* held : gone)
    if (is_reported(*held)) session.past.totals.add(counters.read_stat(held->hook.stat));
  try {
    std::vector<const SessionHook*> reported, unreported;
    for (const SessionHook* held : gone)
      (is_reported(*held) ? reported : unreported).push_back(held);
    Results nobodys;
    const bool all_reported = book(counters, session, reported, session.past);
    return book(counters, session, unreported, nobodys) && all_reported;
  } catch (const std::bad_alloc&) {
    return false;
  }
}

}  // namespace tracectl
