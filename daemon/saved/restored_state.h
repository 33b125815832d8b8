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
#include "daemon/saved/saver.h"
#include "daemon/switching/hooks.h"
#include "daemon/switching/slots.h"

namespace tracectl {

// The state that a former daemon has left, while its sessions are resumed one after another. Their slots
// belong to this engine from the start, with hooks that only the kernel's tables describe.
class RestoredState {
 public:
  // For a restored kernel: takes what is in the store, and makes slots of it. If no state fits the tables,
  // all of it is disarmed, and no session can be resumed.
  static RestoredState begin(DescriptorStore& store, Switching& switching, Reading& reading,
                             Slots& slots, Saver& saver);

  const EngineState& state() const { return state_; }
  const SessionState* find(const std::string& session) const;
  const ObjectPtr& object(uint32_t index) const { return objects_[index]; }
  const SavedNumbers& numbers() const { return numbers_; }
  // Returns the rings by CPU; empty if they are missing. Call it once for each session.
  std::vector<Fd> take_rings(uint32_t session, unsigned cpus);

 private:
  struct SavedLink {
    Way way = Way::entry;
    Fd fd;
    std::vector<Fd> beside;
  };

  bool take_state(std::vector<SavedDescriptor> states, uint64_t epoch);
  bool take_objects(std::vector<SavedDescriptor> objects, const DescriptorStore& store,
                    Reading& reading);
  void take_slots(Switching& switching, Slots& slots);
  bool take_slot(const SlotState& state, Switching& switching, Slots& slots);
  void take_hooks(const tc_generation& generation, const ChunkedTable<tc_hook>& hooks, Slot& slot);
  void take_links(Switching& switching, Slots& slots, Saver& saver);
  static void clear_others(Switching& switching, const Slots& slots);

  EngineState state_;
  std::vector<ObjectPtr> objects_;  // of the state
  std::map<uint32_t, SavedLink> links_;
  std::map<uint32_t, std::map<uint32_t, Fd>> rings_;  // by session and CPU
  SavedNumbers numbers_;
  std::vector<uint32_t> slot_ids_, hook_ids_, stat_ids_;
};

}  // namespace tracectl
