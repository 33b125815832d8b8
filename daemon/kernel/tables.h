// SPDX-License-Identifier: BSD-2-Clause
//
// The tables of the kernel that aggregates are kept in (bpf/aggregate.bpf.h), read whole. Reading may
// run beside programs that add to them.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "bpf/abi.h"
#include "daemon/base/result.h"
#include "daemon/kernel/kernel.h"

struct bpf_map;

namespace tracectl {

// Summed over the CPUs.
Result<std::vector<KeyCount>> read_counts(int fd, unsigned cpu_count);
Result<std::vector<KeySum>> read_sums(int fd, unsigned cpu_count);
Result<std::vector<KeyTime>> read_times(int fd, unsigned cpu_count);
std::vector<tc_key> keys_of(int fd, const std::unordered_set<uint32_t>& stats);
// Whether it was there.
bool delete_key(int fd, const tc_key& key);

// Strings of keys by their numbers, each with the bytes 0 up to TC_STR_LEN.
Result<std::unordered_map<uint64_t, std::string>> read_texts(const bpf_map* map);

// Stacks of keys. None if there is none of the number, or it is not there whole yet: then nothing is
// counted by it.
std::optional<tc_key_stack> read_key_stack(const bpf_map* map, uint64_t number);

Result<std::vector<NumberedPath>> read_paths(const bpf_map* map);

// These take out all entries of a table, or those of one session, and tell how many were whose.
using BySession = std::array<uint32_t, TC_MAX_SESSIONS>;
BySession forget_texts(const bpf_map* map, std::optional<uint32_t> session);
BySession forget_key_stacks(const bpf_map* map, std::optional<uint32_t> session);
BySession forget_paths(const bpf_map* map, std::optional<uint32_t> session);
// Calls that are open (bpf/calls.bpf.h); blocks of such calls, and of what waits for their end.
BySession forget_callers(const bpf_map* map, std::optional<uint32_t> session);
BySession forget_blocks(const bpf_map* map, std::optional<uint32_t> session);

}  // namespace tracectl
