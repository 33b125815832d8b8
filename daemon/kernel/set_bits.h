// SPDX-License-Identifier: BSD-2-Clause
//
// Sets of set targets, as bits, in elements of the kernel's tables.
#pragma once

#include <bpf/bpf.h>

#include <algorithm>
#include <cstdint>

#include "bpf/abi.h"

namespace tracectl::sets {

inline void put(tc_sets& sets, uint32_t number, bool in) {
  const uint64_t bit = uint64_t{1} << (number % 64);
  auto& word = sets.words[number / 64];
  word = in ? word | bit : word & ~bit;
}

inline bool has(const tc_sets& sets, uint32_t number) {
  return number < TC_MAX_SET_TARGETS && sets.words[number / 64] >> (number % 64) & 1;
}

inline bool is_empty(const tc_sets& sets) {
  return std::all_of(std::begin(sets.words), std::end(sets.words),
                     [](uint64_t word) { return word == 0; });
}

inline tc_sets common(tc_sets sets, const tc_sets& others) {
  for (uint32_t i = 0; i < TC_MEMBER_WORDS; ++i) sets.words[i] &= others.words[i];
  return sets;
}

// Writes the element, or deletes it if it is of no set any more.
template <class Value>
void put_back(int table, const void* key, const Value& value, const tc_sets& of) {
  if (is_empty(of))
    bpf_map_delete_elem(table, key);
  else
    bpf_map_update_elem(table, key, &value, BPF_EXIST);
}

// The same for a process, which is deleted if it belongs to no set and is proven to no session.
inline void put_back_member(int members, uint32_t pid, const tc_member& member) {
  const auto is_zero = [](uint64_t word) { return word == 0; };
  if (is_empty(member.of) && std::ranges::all_of(member.proven.words, is_zero))
    bpf_map_delete_elem(members, &pid);
  else
    bpf_map_update_elem(members, &pid, &member, BPF_EXIST);
}

}  // namespace tracectl::sets
