// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <set>
#include <vector>

#include "daemon/base/descriptor_store.h"
#include "daemon/saved/saver.h"
#include "daemon/sessions/sessions.h"
#include "daemon/switching/hooks.h"
#include "daemon/switching/slots.h"
#include "daemon/switching/switch.h"

namespace tracectl {

// Puts the state of saved sessions into the store before each switch, so that they outlive the daemon. Without a store
// it does nothing.
class Saving {
 public:
  // All are borrowed. `ring_bytes`: of new rings. `store` may be null.
  Saving(Kernel& kernel, Slots& slots, const Hooks& hooks, const Sessions& sessions,
         DescriptorStore* store, size_t ring_bytes);

  bool is_on() const { return saver_ != nullptr; }
  // Call it only if that holds.
  Saver& saver() { return *saver_; }

  // Stores the state after the switch, which is built.
  Status save(const Switch& change) { return save(&change); }
  // Stores the state now, after counts went to a session's past. If the store has no room, they are lost with the
  // daemon.
  void save_past();
  // Drops from the store what no stored state refers to.
  void drop_unused() { saver_->forget_but(links_); }

  Status save_rings(const Session& session, const std::vector<Fd>& by_cpu);
  void forget_rings(const Session& session);

 private:
  Status save(const Switch* change);

  Kernel& kernel_;
  Slots& slots_;
  const Hooks& hooks_;
  const Sessions& sessions_;
  const size_t ring_bytes_;
  std::unique_ptr<Saver> saver_;  // null without a store
  std::set<uint32_t> links_;      // of the last state in the store
};

}  // namespace tracectl
