// SPDX-License-Identifier: BSD-2-Clause
//
// Reads the kernel's tables of aggregates (bpf/aggregate.bpf.h), also while programs add to them.
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
// Returns whether the key was there.
bool delete_key(int fd, const tc_key& key);

// The strings of keys by their numbers, each padded with 0 to TC_STR_LEN.
Result<std::unordered_map<uint64_t, std::string>> read_texts(const bpf_map* map);

// The stack that keys refer to by this number. None if there is none, or if it is not complete yet: then
// nothing has been counted by it.
std::optional<tc_key_stack> read_key_stack(const bpf_map* map, uint64_t number);

Result<std::vector<NumberedPath>> read_paths(const bpf_map* map);

// These delete all entries of a table, or those of one session, and return how many each session had.
using BySession = std::array<uint32_t, TC_MAX_SESSIONS>;
BySession forget_texts(const bpf_map* map, std::optional<uint32_t> session);
BySession forget_key_stacks(const bpf_map* map, std::optional<uint32_t> session);
BySession forget_paths(const bpf_map* map, std::optional<uint32_t> session);
// Open calls (bpf/calls.bpf.h), and blocks of such calls and of records that wait for their end.
BySession forget_callers(const bpf_map* map, std::optional<uint32_t> session);
BySession forget_blocks(const bpf_map* map, std::optional<uint32_t> session);

}  // namespace tracectl
