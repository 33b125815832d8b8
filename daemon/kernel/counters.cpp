// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/kernel/counters.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include <array>

#include "bpf/tracer.skel.h"
#include "daemon/kernel/tables.h"

namespace tracectl {
namespace {

// struct text_key of bpf/maps.bpf.h.
struct TextKey {
  uint32_t session;
  char bytes[TC_STR_LEN];
};

// struct caller of bpf/calls.bpf.h: a thread or goroutine with open calls.
struct Caller {
  uint32_t id;
  uint32_t session;
  uint64_t goroutine;
};

// struct deep_key of bpf/calls.bpf.h: a block of open calls, or of records that wait for their end.
struct DeepCaller {
  Caller caller;
  uint32_t block;
  uint32_t pad;
};

template <class Key> uint32_t session_of(const Key& key) { return key.session; }
uint32_t session_of(const DeepCaller& key) { return key.caller.session; }
// The key that number_of_stack() makes (bpf/key_stack.bpf.h).
uint32_t session_of(uint64_t key_stack) { return key_stack & (TC_MAX_SESSIONS - 1); }

tc_pair_stat copy_of(int pair_stats, uint32_t stat) {
  tc_pair_stat copy{};
  if (bpf_map_lookup_elem(pair_stats, &stat, &copy) != 0) return tc_pair_stat{};
  return copy;
}

}  // namespace

Counters::Counters(tracer& skeleton, LongWork& long_work, std::span<tc_stat> stats, Chunks chunks,
                   std::span<const tc_session> sessions, DescriptorStore* store)
    : skeleton_(skeleton),
      long_work_(long_work),
      cpu_count_(skeleton.rodata->cpu_count),
      chunks_(std::move(chunks)),
      accounts_({}, TC_CHUNK_STATS / TC_PACKED_ACCOUNTS),
      sessions_(sessions),
      rooms_(skeleton.bss->rooms),
      key_tables_(skeleton, cpu_count_, store) {
  for (unsigned cpu = 0; cpu < cpu_count_; ++cpu)
    stats_.emplace_back(stats.subspan(size_t{cpu} * TC_FIRST_STATS, TC_FIRST_STATS),
                        TC_CHUNK_STATS);
  for (size_t chunk = 0; chunk < chunks_.count(); ++chunk) add_chunk(chunk);
}

// ---- of hooks ----

void Counters::add_chunk(size_t chunk) {
  const auto stats = chunks_.at<tc_stat>(chunk);
  for (unsigned cpu = 0; cpu < cpu_count_; ++cpu)
    stats_[cpu].add_chunk(stats.subspan(size_t{cpu} * TC_CHUNK_STATS, TC_CHUNK_STATS));
  const auto rows = chunks_.at<tc_packed_accounts>(chunk);
  accounts_.add_chunk(rows.subspan(size_t{cpu_count_} * TC_CHUNK_STATS));
}

Status Counters::make_stats(uint32_t end) {
  while (stats_.front().chunks_to_make(end)) {
    if (auto made = chunks_.add(long_work_); !made) return made;
    add_chunk(chunks_.count() - 1);
  }
  return ok();
}

uint8_t& Counters::account_of_counters(uint32_t stat) {
  if (stat < TC_FIRST_STATS) return skeleton_.bss->account_of_stat[stat];
  const uint32_t after = stat - TC_FIRST_STATS;
  return accounts_[after / TC_PACKED_ACCOUNTS].of[after % TC_PACKED_ACCOUNTS];
}

Status Counters::save_in(DescriptorStore& store) {
  auto saved = chunks_.save_in(store);
  return saved ? key_tables_.save_in(store) : saved;
}

tc_stat Counters::read_stat(uint32_t stat) const {
  tc_stat sum{};
  if (stat >= stats_.front().size()) return sum;  // nothing has counted there
  for (const auto& of_cpu : stats_) {
    const tc_stat& row = of_cpu[stat];
    // Hits are read last because programs count them first: no other counter of a hit is seen without the hit.
    sum.filtered += __atomic_load_n(&row.filtered, __ATOMIC_ACQUIRE);
    sum.dropped_ring += __atomic_load_n(&row.dropped_ring, __ATOMIC_ACQUIRE);
    sum.dropped_keys += __atomic_load_n(&row.dropped_keys, __ATOMIC_ACQUIRE);
    sum.silenced += __atomic_load_n(&row.silenced, __ATOMIC_ACQUIRE);
    sum.hits += __atomic_load_n(&row.hits, __ATOMIC_RELAXED);
  }
  return sum;
}

Status Counters::begin_stat(uint32_t stat, uint32_t session) {
  if (auto made = make_stats(stat + 1); !made) return made;
  account_of_counters(stat) = static_cast<uint8_t>(account_of(session));
  for (const auto& of_cpu : stats_) of_cpu[stat] = tc_stat{};
  return ok();
}

Status Counters::add_rate(uint32_t stat) {
  const tc_rate none{};
  if (bpf_map_update_elem(bpf_map__fd(skeleton_.maps.rates), &stat, &none, BPF_ANY))
    return Error::from_errno("make room for a rate");
  return ok();
}

void Counters::remove_rate(uint32_t stat) {
  bpf_map_delete_elem(bpf_map__fd(skeleton_.maps.rates), &stat);
}

Status Counters::add_pair_stat(uint32_t stat, uint32_t slowest) {
  tc_pair_stat none{};
  none.wanted = slowest;
  if (bpf_map_update_elem(bpf_map__fd(skeleton_.maps.pair_stats), &stat, &none, BPF_ANY) != 0)
    return Error::from_errno("make room for the counters of a pair of probes");
  return ok();
}

void Counters::remove_pair_stat(uint32_t stat) {
  bpf_map_delete_elem(bpf_map__fd(skeleton_.maps.pair_stats), &stat);
}

// The kernel copies the entry while programs change it. A copy is consistent if the sequence was the same before
// and after it. A change takes well below a microsecond; if changes never pause, the last copy is returned.
tc_pair_stat Counters::read_pair_stat(uint32_t stat) const {
  constexpr int kMostTries = 1000;
  const int pair_stats = bpf_map__fd(skeleton_.maps.pair_stats);
  tc_pair_stat copy = copy_of(pair_stats, stat);
  for (int tries = 0; tries < kMostTries; ++tries) {
    tc_pair_stat next = copy_of(pair_stats, stat);
    if (copy.sequence % 2 == 0 && next.sequence == copy.sequence) break;
    copy = next;
  }
  return copy;
}

void Counters::forget_starts(uint32_t pair) {
  const int starts = bpf_map__fd(skeleton_.maps.starts);
  tc_key key{}, kept{};
  const tc_key* previous = nullptr;
  // If the key was deleted meanwhile, the kernel starts over with the first one, because other pairs go on.
  for (uint32_t steps = 0; steps < 4 * TC_MAX_STARTS; ++steps) {
    if (bpf_map_get_next_key(starts, previous, &key) != 0) return;
    if (key.stat == pair) {
      if (bpf_map_delete_elem(starts, &key) == 0)
        rooms_.give_back(TC_TABLE_STARTS, account_of(key.bucket), 1);  // the bucket: its session
      continue;
    }
    kept = key;
    previous = &kept;
  }
}

// ---- by keys ----

void Counters::delete_keys(tc_table table, std::span<const tc_key> keys) {
  for (const tc_key& key : keys)
    if (key_tables_.take_out(table, key)) rooms_.give_back(table, account_of_counters(key.stat), 1);
}

void Counters::forget_keys(const std::unordered_set<uint32_t>& stats) {
  for (const tc_table table : {TC_TABLE_COUNTS, TC_TABLE_SUMS, TC_TABLE_TIMES})
    delete_keys(table, key_tables_.keys_of(table, stats));
}

// ---- what numbers in keys stand for ----

Result<std::unordered_map<uint64_t, std::string>> Counters::read_texts() const {
  std::unordered_map<uint64_t, std::string> texts;
  auto read = tables::each_entry<TextKey, uint32_t>(
      bpf_map__fd(skeleton_.maps.texts), "texts", 1,
      [&](const TextKey& text, std::span<const uint32_t> number) {
        texts.emplace(number[0], std::string(text.bytes, TC_STR_LEN));
      });
  if (!read) return read.error();
  return texts;
}

std::optional<tc_key_stack> Counters::read_key_stack(uint64_t number) const {
  tc_key_stack stack;
  if (bpf_map_lookup_elem(bpf_map__fd(skeleton_.maps.key_stacks), &number, &stack) != 0)
    return std::nullopt;
  if (head_of(stack).kind != TC_RECORD_KEY_STACK) return std::nullopt;
  return stack;
}

Result<std::vector<NumberedPath>> Counters::read_paths() const {
  std::vector<NumberedPath> paths;
  auto read = tables::each_entry<tc_path, uint64_t>(
      bpf_map__fd(skeleton_.maps.paths), "paths", 1,
      [&](const tc_path& path, std::span<const uint64_t> number) {
        paths.push_back({number[0], path});
      });
  if (!read) return read.error();
  return paths;
}

// Deletes all entries of a table, or those of one session. They are not searched if the session's user has none.
template <class Key>
void Counters::forget(const bpf_map* map, tc_table table, std::optional<uint32_t> session) {
  if (session && !rooms_.used(table, account_of(*session))) return;
  const int fd = bpf_map__fd(map);
  std::array<uint32_t, TC_MAX_SESSIONS> gone{};
  const auto is_meant = [&](const Key& key) { return !session || session_of(key) == *session; };
  for (const Key& key : tables::keys_of<Key>(fd, is_meant))
    if (bpf_map_delete_elem(fd, &key) == 0) ++gone[session_of(key) % TC_MAX_SESSIONS];
  for (uint32_t of = 0; of < TC_MAX_SESSIONS; ++of)
    if (gone[of]) rooms_.give_back(table, account_of(of), gone[of]);
}

void Counters::forget_numbers() {
  const auto& maps = skeleton_.maps;
  forget<TextKey>(maps.texts, TC_TABLE_TEXTS, std::nullopt);
  forget<uint64_t>(maps.key_stacks, TC_TABLE_KEY_STACKS, std::nullopt);
  forget<tc_path>(maps.paths, TC_TABLE_PATHS, std::nullopt);
}

void Counters::forget_session(uint32_t session) {
  const auto& maps = skeleton_.maps;
  forget<Caller>(maps.callers, TC_TABLE_CALLERS, session);
  forget<DeepCaller>(maps.deep_callers, TC_TABLE_DEEP_BLOCKS, session);
  forget<DeepCaller>(maps.held_blocks, TC_TABLE_HELD_BLOCKS, session);
  forget<TextKey>(maps.texts, TC_TABLE_TEXTS, session);
  forget<uint64_t>(maps.key_stacks, TC_TABLE_KEY_STACKS, session);
  forget<tc_path>(maps.paths, TC_TABLE_PATHS, session);
}

}  // namespace tracectl
