// SPDX-License-Identifier: BSD-2-Clause
//
// Reads the kernel's tables, also while programs add to them.
#pragma once

#include <bpf/bpf.h>

#include <cerrno>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "daemon/base/result.h"

namespace tracectl::tables {

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

template <class Key, class IsWanted> std::vector<Key> keys_of(int fd, IsWanted is_wanted) {
  std::vector<Key> keys;
  Key key{};
  const Key* previous = nullptr;
  for (; bpf_map_get_next_key(fd, previous, &key) == 0; previous = &key)
    if (is_wanted(key)) keys.push_back(key);
  return keys;
}

template <class Key> std::vector<Key> keys_of(int fd) {
  return keys_of<Key>(fd, [](const Key&) { return true; });
}

}  // namespace tracectl::tables
