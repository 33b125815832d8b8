// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <span>
#include <vector>

#include "bpf/abi.h"
#include "daemon/base/mapping.h"
#include "daemon/base/result.h"

struct bpf_map;
struct tracer;

namespace tracectl {

// The tables that the programs share with us as memory, mapped into this process while it exists.
class SharedArrays {
 public:
  // `skeleton` is loaded.
  static Result<SharedArrays> map(const tracer& skeleton);

  std::span<tc_stat> stats;
  std::span<tc_spec> specs;
  std::span<tc_layout> layouts;
  std::span<tc_first_hit> first_hits;
  std::span<tc_session> sessions;
  std::span<tc_account> accounts;
  std::span<tc_tag> tags;
  std::span<tc_own_tag> own_tags;
  std::span<tc_ring_loss> losses;

 private:
  template <class T> Status take(std::span<T>& into, const bpf_map* map);

  std::vector<Mapping> mappings_;
};

}  // namespace tracectl
