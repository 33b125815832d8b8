// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>

#include "daemon/base/descriptor_store.h"
#include "daemon/finding/object.h"
#include "daemon/kernel/kernel.h"
#include "daemon/saved/engine_state.h"

namespace tracectl {

// Puts links, rings and objects into the store, each once, and the state that refers to them. They are there before
// the state, and are dropped when no state refers to them.
class Saver {
 public:
  // Both are borrowed. `waiting` runs the wait for the store, so that the daemon can answer status requests meanwhile.
  Saver(DescriptorStore& store, LongWork& waiting) : store_(store), waiting_(waiting) {}

  Status save_kernel(Kernel& kernel);
  void kernel_restored() { has_kernel_ = true; }

  Status save_link(const Link& link, Way way);
  Status save_rings(uint32_t session, const std::vector<Fd>& by_cpu);
  void forget_rings(uint32_t session, unsigned cpus);
  // Returns the number by which the state refers to it.
  Result<uint32_t> save_object(const ObjectPtr& object);
  Status save_state(const EngineState& state);
  bool has_state() const { return !states_.empty(); }

  // Takes over what a former daemon has kept.
  void restore(std::vector<uint32_t> states, uint32_t last_object) {
    for (const uint32_t state : states) last_state_ = std::max(last_state_, state);
    states_ = std::move(states);
    last_object_ = last_object;
  }
  void restored(uint32_t link) { links_.insert(link); }
  void restored(const ObjectPtr& object, uint32_t number) { objects_[object] = number; }

  // Call it after a switch, or after one that was given up. Drops the states before the last one, the objects that it
  // does not refer to, and all links but these.
  void forget_but(const std::set<uint32_t>& links);

 private:
  void forget_link(uint32_t incarnation);

  DescriptorStore& store_;
  LongWork& waiting_;
  bool has_kernel_ = false;
  std::set<uint32_t> links_;
  std::map<ObjectPtr, uint32_t> objects_;
  std::vector<uint32_t> states_;        // their numbers
  std::set<uint32_t> objects_of_last_;  // of the last state
  uint32_t last_state_ = 0, last_object_ = 0;
};

}  // namespace tracectl
