// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "daemon/base/descriptor_store.h"
#include "daemon/object/file_reader.h"
#include "daemon/saved/engine_state.h"
#include "daemon/saved/keeper.h"
#include "daemon/switching/hooks.h"
#include "daemon/switching/slots.h"

namespace tracectl {

// What a former daemon has left, while its sessions go on one after another. Their slots are ours from the
// beginning, with hooks of which only the kernel's tables tell.
class Adoption {
 public:
  // Of an adopted kernel: takes what is in the store, and makes it slots. Where no state fits the tables all
  // of it is disarmed, and no session can go on.
  static Adoption begin(DescriptorStore& store, Kernel& kernel, Reading& reading, Slots& slots,
                        Keeper& keeper);

  const EngineState& state() const { return state_; }
  const SessionState* find(const std::string& session) const;
  const ObjectPtr& object(uint32_t index) const { return objects_[index]; }
  const FormerNumbers& numbers() const { return numbers_; }
  // By CPU; empty where they are not there. Once.
  std::vector<Fd> take_rings(uint32_t session, unsigned cpus);

 private:
  struct KeptLink {
    Way way = Way::entry;
    Fd fd;
    std::vector<Fd> beside;
  };

  bool take_state(std::vector<KeptDescriptor> states, uint64_t epoch);
  bool take_objects(std::vector<KeptDescriptor> objects, const DescriptorStore& store,
                    Reading& reading);
  void take_slots(Kernel& kernel, Slots& slots);
  bool take_slot(const SlotState& state, Kernel& kernel, Slots& slots);
  void take_hooks(const tc_generation& generation, std::span<const tc_hook> hooks, Slot& slot);
  void take_links(Kernel& kernel, Slots& slots, Keeper& keeper);
  static void clear_others(Kernel& kernel, const Slots& slots);

  EngineState state_;
  std::vector<ObjectPtr> objects_;  // of the state
  std::map<uint32_t, KeptLink> links_;
  std::map<uint32_t, std::map<uint32_t, Fd>> rings_;  // by session and CPU
  FormerNumbers numbers_;
  std::vector<uint32_t> slot_ids_, hook_ids_, stat_ids_;
};

}  // namespace tracectl
