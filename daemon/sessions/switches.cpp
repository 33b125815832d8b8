// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/sessions/switches.h"

#include <new>

#include "daemon/base/clock.h"

namespace tracectl {

Switches::Switches(Switching& switching, Counters& counters, Slots& slots, Hooks& hooks,
                   Saving& saving, const Quotas& quotas, uint64_t linger_ns)
    : switching_(switching),
      counters_(counters),
      slots_(slots),
      hooks_(hooks),
      saving_(saving),
      quotas_(quotas),
      linger_ns_(linger_ns) {}

Switch Switches::begin() {
  return Switch(switching_, counters_, slots_, hooks_, linger_ns_ ? boot_ns() + linger_ns_ : 0);
}

Switch Switches::begin_without_lingering() {
  return Switch(switching_, counters_, slots_, hooks_, 0);
}

Status Switches::build(Switch& change) {
  if (!restoring_)
    if (auto within = quotas_.check_shares(change); !within) return within;
  if (auto built = change.build(); !built) return built;
  if (auto within = quotas_.check_saved(change); !within) return within;
  auto saved = saving_.save(change);
  if (!saved && !restoring_) saving_.drop_unused();
  return saved;
}

// A switch cannot fail: if memory is short, the next switch drops the rest.
void Switches::drop_unused() {
  try {
    if (saving_.is_on()) saving_.drop_unused();
  } catch (const std::bad_alloc&) {}
}

uint64_t Switches::activate(Switch& change) {
  const uint64_t epoch = change.activate([this] { drop_unused(); });
  ++stats_.switches;
  if (linger_ns_ && !next_linger_end_ns_) next_linger_end_ns_ = slots_.next_linger_end_ns();
  return epoch;
}

Status Switches::end_lingering() {
  const uint64_t now = boot_ns();
  Switch change = begin_without_lingering();
  bool any = false;
  for (const auto& [id, slot] : slots_.by_id) {
    if (!slot.lingers_until_ns || slot.lingers_until_ns > now) continue;
    change.end_lingering(id);
    any = true;
  }
  if (!any) {  // a session wants it again
    next_linger_end_ns_ = slots_.next_linger_end_ns();
    return ok();
  }
  if (auto built = build(change); !built) {
    next_linger_end_ns_ = now + linger_ns_;
    return built;
  }
  activate(change);
  next_linger_end_ns_ = slots_.next_linger_end_ns();
  return ok();
}

}  // namespace tracectl
