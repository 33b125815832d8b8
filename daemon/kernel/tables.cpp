// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/kernel/tables.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include <algorithm>
#include <cstring>
#include <numeric>

namespace tracectl {
namespace {

// Calls the function with each key of a table and its values: one, or one for each CPU.
template <class Key, class Value, class OnEntry>
Status each_entry(int fd, const char* name, unsigned values_of_key, OnEntry on_entry) {
  constexpr uint32_t kBatch = 4096;
  std::vector<Key> keys(kBatch);
  std::vector<Value> values(size_t{kBatch} * values_of_key);
  uint32_t position = 0;
  bool first = true;
  for (int err = 0; err == 0; first = false) {
    uint32_t count = kBatch;
    err = bpf_map_lookup_batch(fd, first ? nullptr : &position, &position, keys.data(),
                               values.data(), &count, nullptr);
    if (err != 0 && err != -ENOENT)
      return Error::from_errno(std::string("read the table of ") + name, -err);
    for (uint32_t i = 0; i < count; ++i)
      on_entry(keys[i],
               std::span<const Value>(values).subspan(size_t{i} * values_of_key, values_of_key));
  }
  return ok();
}

// struct text_key of bpf/maps.bpf.h.
struct TextKey {
  uint32_t session;
  char bytes[TC_STR_LEN];
};

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
  to.high = std::max(to.high, part.high);
  to.low = std::max(to.low, part.low);
  for (size_t i = 0; i < std::size(to.buckets); ++i) to.buckets[i] += part.buckets[i];
}

// struct caller of bpf/calls.bpf.h.
struct Caller {
  uint32_t tid;
  uint32_t session;
};

// struct deep_key of bpf/calls.bpf.h.
struct DeepCaller {
  uint32_t tid;
  uint32_t session;
  uint32_t block;
};

template <class Key> uint32_t session_of(const Key& key) { return key.session; }
// The key that number_of_stack() makes (bpf/key_stack.bpf.h).
uint32_t session_of(uint64_t key_stack) { return key_stack & (TC_MAX_SESSIONS - 1); }

template <class Key> BySession forget(const bpf_map* map, std::optional<uint32_t> only) {
  const int fd = bpf_map__fd(map);
  std::vector<Key> keys;
  Key key;
  const Key* previous = nullptr;
  for (; bpf_map_get_next_key(fd, previous, &key) == 0; previous = &key)
    if (!only || session_of(key) == *only) keys.push_back(key);
  BySession gone{};
  for (const Key& one : keys)
    if (bpf_map_delete_elem(fd, &one) == 0) ++gone[session_of(one) % TC_MAX_SESSIONS];
  return gone;
}

}  // namespace

Result<std::vector<KeyCount>> read_counts(int fd, unsigned cpu_count) {
  std::vector<KeyCount> result;
  auto read = each_entry<tc_key, uint64_t>(
      fd, "counts", cpu_count, [&](const tc_key& key, std::span<const uint64_t> counts) {
        result.push_back({key, std::accumulate(counts.begin(), counts.end(), uint64_t{0})});
      });
  if (!read) return read.error();
  return result;
}

Result<std::vector<KeySum>> read_sums(int fd, unsigned cpu_count) {
  std::vector<KeySum> result;
  auto read = each_entry<tc_key, tc_sum>(fd, "sums", cpu_count,
                                         [&](const tc_key& key, std::span<const tc_sum> sums) {
                                           KeySum& all = result.emplace_back(KeySum{key, {}});
                                           for (const tc_sum& sum : sums) add(sum, all.sum);
                                         });
  if (!read) return read.error();
  return result;
}

Result<std::vector<KeyTime>> read_times(int fd, unsigned cpu_count) {
  std::vector<KeyTime> result;
  auto read = each_entry<tc_key, tc_time>(fd, "times", cpu_count,
                                          [&](const tc_key& key, std::span<const tc_time> times) {
                                            KeyTime& all = result.emplace_back(KeyTime{key, {}});
                                            for (const tc_time& time : times) add(time, all.time);
                                          });
  if (!read) return read.error();
  return result;
}

Result<std::unordered_map<uint64_t, std::string>> read_texts(const bpf_map* map) {
  std::unordered_map<uint64_t, std::string> texts;
  auto read = each_entry<TextKey, uint32_t>(
      bpf_map__fd(map), "texts", 1, [&](const TextKey& text, std::span<const uint32_t> number) {
        texts.emplace(number[0], std::string(text.bytes, TC_STR_LEN));
      });
  if (!read) return read.error();
  return texts;
}

std::optional<tc_key_stack> read_key_stack(const bpf_map* map, uint64_t number) {
  tc_key_stack stack;
  if (bpf_map_lookup_elem(bpf_map__fd(map), &number, &stack) != 0) return std::nullopt;
  if (head_of(stack).kind != TC_RECORD_KEY_STACK) return std::nullopt;
  return stack;
}

Result<std::vector<NumberedPath>> read_paths(const bpf_map* map) {
  std::vector<NumberedPath> paths;
  auto read = each_entry<tc_path, uint64_t>(
      bpf_map__fd(map), "paths", 1, [&](const tc_path& path, std::span<const uint64_t> number) {
        paths.push_back({number[0], path});
      });
  if (!read) return read.error();
  return paths;
}

BySession forget_texts(const bpf_map* map, std::optional<uint32_t> session) {
  return forget<TextKey>(map, session);
}

BySession forget_key_stacks(const bpf_map* map, std::optional<uint32_t> session) {
  return forget<uint64_t>(map, session);
}

BySession forget_paths(const bpf_map* map, std::optional<uint32_t> session) {
  return forget<tc_path>(map, session);
}

BySession forget_callers(const bpf_map* map, std::optional<uint32_t> session) {
  return forget<Caller>(map, session);
}

BySession forget_blocks(const bpf_map* map, std::optional<uint32_t> session) {
  return forget<DeepCaller>(map, session);
}

std::vector<tc_key> keys_of(int fd, const std::unordered_set<uint32_t>& stats) {
  std::vector<tc_key> keys;
  tc_key key;
  const tc_key* previous = nullptr;
  for (; bpf_map_get_next_key(fd, previous, &key) == 0; previous = &key)
    if (stats.contains(key.stat)) keys.push_back(key);
  return keys;
}

bool delete_key(int fd, const tc_key& key) { return bpf_map_delete_elem(fd, &key) == 0; }

}  // namespace tracectl
