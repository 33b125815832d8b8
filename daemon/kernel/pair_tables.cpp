// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/kernel/pair_tables.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

namespace tracectl {
namespace {

tc_pair_stat copy_of(const bpf_map* map, uint32_t stat) {
  tc_pair_stat copy{};
  if (bpf_map_lookup_elem(bpf_map__fd(map), &stat, &copy) != 0) return tc_pair_stat{};
  return copy;
}

}  // namespace

Status add_pair_stat(const bpf_map* map, uint32_t stat, uint32_t slowest) {
  tc_pair_stat none{};
  none.wanted = slowest;
  if (bpf_map_update_elem(bpf_map__fd(map), &stat, &none, BPF_ANY) != 0)
    return Error::from_errno("make room for the counters of a pair of probes");
  return ok();
}

// The kernel copies the entry while programs change it. A copy is consistent if the sequence was the same before
// and after it. A change takes well below a microsecond; if changes never pause, the last copy is returned.
tc_pair_stat read_pair_stat(const bpf_map* map, uint32_t stat) {
  constexpr int kMostTries = 1000;
  tc_pair_stat copy = copy_of(map, stat);
  for (int tries = 0; tries < kMostTries; ++tries) {
    tc_pair_stat next = copy_of(map, stat);
    if (copy.sequence % 2 == 0 && next.sequence == copy.sequence) break;
    copy = next;
  }
  return copy;
}

void forget_starts(const bpf_map* map, uint32_t pair,
                   const std::function<void(uint32_t session)>& on_gone) {
  const int fd = bpf_map__fd(map);
  tc_key key{}, kept{};
  const tc_key* previous = nullptr;
  // If the key was deleted meanwhile, the kernel starts over with the first one, because other pairs go on.
  for (uint32_t steps = 0; steps < 4 * TC_MAX_STARTS; ++steps) {
    if (bpf_map_get_next_key(fd, previous, &key) != 0) return;
    if (key.stat == pair) {
      if (bpf_map_delete_elem(fd, &key) == 0) on_gone(key.bucket);
      continue;
    }
    kept = key;
    previous = &kept;
  }
}

}  // namespace tracectl
