// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/kernel/shared_arrays.h"

#include <bpf/libbpf.h>
#include <sys/mman.h>
#include <unistd.h>

#include "bpf/tracer.skel.h"

namespace tracectl {

template <class T> Status SharedArrays::take(std::span<T>& into, const bpf_map* map) {
  const size_t page = static_cast<size_t>(::sysconf(_SC_PAGESIZE));
  const size_t count = bpf_map__max_entries(map);
  auto mapping = Mapping::map(bpf_map__fd(map), 0, (count * sizeof(T) + page - 1) / page * page,
                              PROT_READ | PROT_WRITE, MAP_SHARED);
  if (!mapping) return mapping.error();
  into = {static_cast<T*>(mapping->data()), count};
  mappings_.push_back(std::move(*mapping));
  return ok();
}

Result<SharedArrays> SharedArrays::map(const tracer& skeleton) {
  const auto& maps = skeleton.maps;
  SharedArrays arrays;
  Status taken = arrays.take(arrays.stats, maps.stats);
  if (taken) taken = arrays.take(arrays.specs, maps.specs);
  if (taken) taken = arrays.take(arrays.layouts, maps.layouts);
  if (taken) taken = arrays.take(arrays.first_hits, maps.first_hits);
  if (taken) taken = arrays.take(arrays.sessions, maps.sessions);
  if (taken) taken = arrays.take(arrays.accounts, maps.accounts);
  if (taken) taken = arrays.take(arrays.tags, maps.tags);
  if (taken) taken = arrays.take(arrays.own_tags, maps.own_tags);
  if (taken) taken = arrays.take(arrays.losses, maps.ring_losses);
  if (!taken) return taken.error();
  return arrays;
}

}  // namespace tracectl
