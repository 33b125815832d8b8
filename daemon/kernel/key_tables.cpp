// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/kernel/key_tables.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include <algorithm>
#include <numeric>
#include <span>
#include <string>

#include "bpf/tracer.skel.h"
#include "daemon/kernel/saved_tables.h"
#include "daemon/kernel/tables.h"

namespace tracectl {
namespace {

constexpr tc_table kTables[] = {TC_TABLE_COUNTS, TC_TABLE_SUMS, TC_TABLE_TIMES};

// The tables of each kind: as bpf/maps.bpf.h declares them, and the number of keys they are made for.
struct Kind {
  uint32_t value_bytes;
  uint32_t most_keys;
};
constexpr Kind kKinds[] = {{sizeof(uint64_t), TC_MAX_KEYS},
                           {sizeof(tc_sum), TC_MAX_KEYS},
                           {sizeof(tc_time), TC_MAX_TIMES}};

// Whether the memory for all rows of times can be allocated at once. Otherwise hits take rows from a small pool
// that the kernel refills in the background, and some of many new rows find none.
bool times_fit(unsigned cpu_count) {
  constexpr uint64_t kMostBytes = 128 << 20;  // 14 CPUs
  return uint64_t{TC_MAX_TIMES} * cpu_count * sizeof(tc_time) <= kMostBytes;
}

Fd make_table(tc_table table, uint32_t most_keys, unsigned cpu_count) {
  LIBBPF_OPTS(bpf_map_create_opts, options);
  if (table == TC_TABLE_TIMES && !times_fit(cpu_count)) options.map_flags = BPF_F_NO_PREALLOC;
  return Fd{bpf_map_create(BPF_MAP_TYPE_PERCPU_HASH, kKeyTables[table], sizeof(tc_key),
                           kKinds[table].value_bytes, most_keys, &options)};
}

// The map in which the programs find the table.
bpf_map* place_of(const tracer& skeleton, tc_table table) {
  if (table == TC_TABLE_COUNTS) return skeleton.maps.counts;
  return table == TC_TABLE_SUMS ? skeleton.maps.sums : skeleton.maps.times;
}

Result<Fd> make_in(const bpf_map* place, tc_table table, unsigned cpu_count) {
  const uint32_t only = 0;
  Fd made = make_table(table, kKinds[table].most_keys, cpu_count);
  const int fd = made.get();
  if (!made || bpf_map_update_elem(bpf_map__fd(place), &only, &fd, BPF_ANY) != 0)
    return Error::from_errno(std::string("make the table of ") + kKeyTables[table]);
  return made;
}

// Which tables hits with the spec need. Missing values, and calls that are cut or left, are counted too.
std::vector<tc_table> needed_for(const tc_spec& spec) {
  std::vector<tc_table> needed;
  if (spec.aggregate_count || spec.at_return) needed.push_back(TC_TABLE_COUNTS);
  for (const tc_aggregate& aggregate : std::span(spec.aggregates).first(spec.aggregate_count))
    if (aggregate.kind == TC_SUM)
      needed.push_back(TC_TABLE_SUMS);
    else if (aggregate.kind == TC_TIME)
      needed.push_back(TC_TABLE_TIMES);
  return needed;
}

// Adds one CPU's part of a sum to another's.
void add(const tc_sum& part, tc_sum& to) {
  to.count += part.count;
  to.sum += part.sum;
  to.high = std::max(to.high, part.high);
  to.low = std::max(to.low, part.low);
}

void add(const tc_time& part, tc_time& to) {
  to.count += part.count;
  to.total += part.total;
  to.self += part.self;
  to.probes += part.probes;
  to.split += part.split;
  to.running += part.running;
  to.runnable += part.runnable;
  to.blocked += part.blocked;
  to.high = std::max(to.high, part.high);
  to.low = std::max(to.low, part.low);
  for (size_t i = 0; i < std::size(to.buckets); ++i) to.buckets[i] += part.buckets[i];
}

}  // namespace

Result<std::vector<Fd>> KeyTables::declare(tracer& skeleton, unsigned cpu_count) {
  std::vector<Fd> declared;
  for (const tc_table table : kTables) {
    declared.push_back(make_table(table, 1, cpu_count));
    const Fd& one = declared.back();
    if (!one || bpf_map__set_inner_map_fd(place_of(skeleton, table), one.get()) != 0)
      return Error::from_errno(std::string("say what the table is like of ") + kKeyTables[table]);
  }
  return declared;
}

KeyTables::KeyTables(const tracer& skeleton, unsigned cpu_count, DescriptorStore* store)
    : skeleton_(skeleton), cpu_count_(cpu_count), store_(store) {
  if (!store) return;
  for (SavedDescriptor& one : take_key_tables(skeleton, *store))
    for (const tc_table table : kTables)
      if (one.name == name_of_key_table(skeleton, kKeyTables[table]))
        tables_[table] = std::move(one.fd);
}

Status KeyTables::make_for(const tc_spec& spec, LongWork& work) {
  for (const tc_table table : needed_for(spec)) {
    if (tables_[table]) continue;
    Result<Fd> made = Fd{};
    work.run([&] { made = make_in(place_of(skeleton_, table), table, cpu_count_); });
    if (!made) return made.error();
    if (store_)
      if (auto saved = save(table, *made, *store_); !saved) return saved;
    tables_[table] = std::move(*made);
  }
  return ok();
}

// Called before a spec uses the table: a table that could not be saved is empty, and the next one replaces it.
Status KeyTables::save(tc_table table, const Fd& made, DescriptorStore& store) const {
  return store.save(name_of_key_table(skeleton_, kKeyTables[table]), made.get());
}

Status KeyTables::save_in(DescriptorStore& store) {
  for (const tc_table table : kTables)
    if (tables_[table])
      if (auto saved = save(table, tables_[table], store); !saved) return saved;
  store_ = &store;
  return ok();
}

Result<std::vector<KeyCount>> KeyTables::counts() const {
  std::vector<KeyCount> result;
  if (!tables_[TC_TABLE_COUNTS]) return result;
  auto read = tables::each_entry<tc_key, uint64_t>(
      fd_of(TC_TABLE_COUNTS), "counts", cpu_count_,
      [&](const tc_key& key, std::span<const uint64_t> counts) {
        result.push_back({key, std::accumulate(counts.begin(), counts.end(), uint64_t{0})});
      });
  if (!read) return read.error();
  return result;
}

Result<std::vector<KeySum>> KeyTables::sums() const {
  std::vector<KeySum> result;
  if (!tables_[TC_TABLE_SUMS]) return result;
  auto read =
      tables::each_entry<tc_key, tc_sum>(fd_of(TC_TABLE_SUMS), "sums", cpu_count_,
                                         [&](const tc_key& key, std::span<const tc_sum> sums) {
                                           KeySum& all = result.emplace_back(KeySum{key, {}});
                                           for (const tc_sum& sum : sums) add(sum, all.sum);
                                         });
  if (!read) return read.error();
  return result;
}

Result<std::vector<KeyTime>> KeyTables::times() const {
  std::vector<KeyTime> result;
  if (!tables_[TC_TABLE_TIMES]) return result;
  auto read =
      tables::each_entry<tc_key, tc_time>(fd_of(TC_TABLE_TIMES), "times", cpu_count_,
                                          [&](const tc_key& key, std::span<const tc_time> times) {
                                            KeyTime& all = result.emplace_back(KeyTime{key, {}});
                                            for (const tc_time& time : times) add(time, all.time);
                                          });
  if (!read) return read.error();
  return result;
}

std::vector<tc_key> KeyTables::keys_of(tc_table table,
                                       const std::unordered_set<uint32_t>& stats) const {
  if (!tables_[table]) return {};
  return tables::keys_of<tc_key>(fd_of(table),
                                 [&](const tc_key& key) { return stats.contains(key.stat); });
}

bool KeyTables::take_out(tc_table table, const tc_key& key) {
  return tables_[table] && bpf_map_delete_elem(fd_of(table), &key) == 0;
}

}  // namespace tracectl
