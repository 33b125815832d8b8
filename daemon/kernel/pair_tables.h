// SPDX-License-Identifier: BSD-2-Clause
//
// The tables of pairs of probes: bpf/pairs.bpf.h.
#pragma once

#include <cstdint>
#include <functional>

#include "bpf/abi.h"
#include "daemon/base/result.h"

struct bpf_map;

namespace tracectl {

Status add_pair_stat(const bpf_map* map, uint32_t stat, uint32_t slowest);
// The slowest, as they were at one moment.
tc_pair_stat read_pair_stat(const bpf_map* map, uint32_t stat);
// Deletes the starts of a pair, and calls the function with the session of each. Takes no memory.
void forget_starts(const bpf_map* map, uint32_t pair,
                   const std::function<void(uint32_t session)>& on_gone);

}  // namespace tracectl
