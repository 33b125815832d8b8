// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/kernel/switching.h"

#include "daemon/base/clock.h"
#include "daemon/kernel/layout.h"

namespace tracectl {

Status Switching::make_room(uint32_t slots_end, uint32_t hooks_end) {
  while (shared_.slots.chunks_to_make(slots_end)) {
    auto made = make_slots();
    if (!made) return made.error();
    add_chunk(*made);
  }
  while (shared_.hooks.chunks_to_make(hooks_end)) {
    auto made = make_hooks();
    if (!made) return made.error();
    add_chunk(*made);
  }
  return ok();
}

void Switching::write_layout(uint32_t index, const Arguments& arguments) {
  shared_.layouts[index] = layout_of(arguments);
}

void Switching::activate(uint64_t epoch) {
  attend_to(TC_WATCH_SWITCH);
  switched_ns_ = boot_ns();
  __atomic_store_n(&shared_.epoch, epoch, __ATOMIC_RELEASE);
}

void Switching::take_first_hits(std::vector<FirstHit>& first_hits) {
  attend_to(0);
  for (unsigned cpu = 0; cpu < shared_.first_hits.size(); ++cpu) {
    const tc_first_hit& first = shared_.first_hits[cpu];
    if (__atomic_load_n(&first.epoch, __ATOMIC_ACQUIRE) == epoch())
      first_hits.push_back({cpu, first.ts_ns - switched_ns_});
  }
}

void Switching::attend_to(uint32_t what) {
  __atomic_store_n(&shared_.attention, what, __ATOMIC_SEQ_CST);
}

}  // namespace tracectl
