// SPDX-License-Identifier: BSD-2-Clause
//
// The kernel's door for results: the counters of hooks, and the tables of keys that hits fill.
#pragma once

#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "bpf/abi.h"
#include "daemon/base/descriptor_store.h"
#include "daemon/base/long_work.h"
#include "daemon/base/result.h"
#include "daemon/kernel/chunked_table.h"
#include "daemon/kernel/chunks.h"
#include "daemon/kernel/key_tables.h"
#include "daemon/kernel/rooms.h"

struct bpf_map;
struct tracer;

namespace tracectl {

struct NumberedPath {
  uint64_t number = 0;
  tc_path path{};
};

inline tc_record head_of(const tc_key_stack& stack) {
  tc_record head;
  std::memcpy(&head, stack.head, sizeof(head));
  return head;
}

// What is const may run in another thread beside the control thread, which alone may call the rest. It owns the tables
// of counts, sums and times, and shares all others with the programs. Reading fails with the errno of the kernel;
// making a table or an entry fails, as Code::exhausted, when memory is short. Deleting cannot fail.
class Counters {
 public:
  // All but the chunks, which are of counters, are borrowed. `skeleton` is loaded; `store` may have the tables of a former daemon, or is null.
  Counters(tracer& skeleton, LongWork& long_work, std::span<tc_stat> stats, Chunks chunks,
           std::span<const tc_session> sessions, DescriptorStore* store);

  // ---- of hooks ----
  tc_stat read_stat(uint32_t stat) const;  // summed over the CPUs
  // Zeroes the counter, after it has made the memory of all up to it. Entries that hits make in tables under its number
  // are charged to the session's user.
  Status begin_stat(uint32_t stat, uint32_t session);
  // How much memory it takes to have all counters below `end`.
  uint64_t bytes_to_make_stats(uint32_t end) const {
    return stats_.front().chunks_to_make(end) * chunks_.bytes_each();
  }
  // The state of a hook that samples or limits, kept with these counters.
  Status add_rate(uint32_t stat);
  void remove_rate(uint32_t stat);
  // The state of a hook that is a side of a pair, kept with these counters; it lists this many of the slowest.
  Status add_pair_stat(uint32_t stat, uint32_t slowest);
  void remove_pair_stat(uint32_t stat);
  // The slowest, as they were at one moment.
  tc_pair_stat read_pair_stat(uint32_t stat) const;
  // Deletes the starts that wait for an end. Call it when no hook of the pair is in force. Takes no memory.
  void forget_starts(uint32_t pair);

  // ---- by keys ----
  // Makes the tables that hits with the spec need and that do not exist yet. If one fails, the others stay.
  Status make_tables_for(const tc_spec& spec) { return key_tables_.make_for(spec, long_work_); }
  // Summed over the CPUs.
  Result<std::vector<KeyCount>> read_counts() const { return key_tables_.counts(); }
  Result<std::vector<KeySum>> read_sums() const { return key_tables_.sums(); }
  Result<std::vector<KeyTime>> read_times() const { return key_tables_.times(); }
  void delete_counts(std::span<const tc_key> keys) { delete_keys(TC_TABLE_COUNTS, keys); }
  void delete_sums(std::span<const tc_key> keys) { delete_keys(TC_TABLE_SUMS, keys); }
  void delete_times(std::span<const tc_key> keys) { delete_keys(TC_TABLE_TIMES, keys); }
  // Deletes all keys of these counters, which no hook uses any more.
  void forget_keys(const std::unordered_set<uint32_t>& stats);

  // ---- what numbers in keys stand for ----
  // The strings, each padded with 0 to TC_STR_LEN.
  Result<std::unordered_map<uint64_t, std::string>> read_texts() const;
  // None if there is no such stack, or if it is not complete yet: then nothing has been counted by it.
  std::optional<tc_key_stack> read_key_stack(uint64_t number) const;
  // The paths of calls.
  Result<std::vector<NumberedPath>> read_paths() const;
  // Deletes all strings, stacks and paths. Call it when no hook has such keys.
  void forget_numbers();

  // Deletes the calls that the session has followed, and the strings, stacks and paths of its keys. Call it when
  // the session has no hook any more.
  void forget_session(uint32_t session);

  // Keeps the tables of counts, sums and times in the store, and chunks of counters; from then on also those that are
  // made later.
  Status save_in(DescriptorStore& store);

 private:
  Status make_stats(uint32_t end);
  void add_chunk(size_t chunk);
  uint8_t& account_of_counters(uint32_t stat);
  void delete_keys(tc_table table, std::span<const tc_key> keys);
  template <class Key>
  void forget(const bpf_map* map, tc_table table, std::optional<uint32_t> session);
  uint32_t account_of(uint32_t session) const { return sessions_[session].account; }

  tracer& skeleton_;
  LongWork& long_work_;
  unsigned cpu_count_;
  Chunks chunks_;
  std::vector<ChunkedTable<tc_stat>> stats_;  // by CPU
  ChunkedTable<tc_packed_accounts> accounts_;
  std::span<const tc_session> sessions_;
  Rooms rooms_;
  KeyTables key_tables_;
};

}  // namespace tracectl
