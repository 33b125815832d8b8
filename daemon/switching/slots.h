// SPDX-License-Identifier: BSD-2-Clause
//
// The engine's record of what is armed and set. A slot is a site that is armed for one filter, with the
// hooks of all sessions that want it, and the link that serves it. Staging, the only writer, keeps this
// and the kernel's tables consistent.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "daemon/base/id_pool.h"
#include "daemon/base/result.h"
#include "daemon/finding/object.h"
#include "daemon/finding/slot_key.h"
#include "daemon/kernel/switching.h"
#include "daemon/model/probe.h"
#include "daemon/switching/pairs.h"
#include "daemon/switching/specs.h"

namespace tracectl {

using SessionId = uint16_t;
static_assert(TC_MAX_SESSIONS - 1 <= UINT8_MAX);  // the type in tc_hook

// A layout of arguments in the kernel's table. Its place is free again when no hook holds it any more; as with specs.
class Layout {
 public:
  // Takes a free place, of which there must be one.
  explicit Layout(std::shared_ptr<IdPool> places)
      : places_(std::move(places)), place_(places_->take().value()) {}
  // A former daemon's layout, at its place.
  Layout(std::shared_ptr<IdPool> places, uint32_t place)
      : places_(std::move(places)), place_(place) {}
  ~Layout() { places_->give_back(place_); }
  Layout(const Layout&) = delete;
  Layout& operator=(const Layout&) = delete;

  uint32_t place() const { return place_; }

 private:
  std::shared_ptr<IdPool> places_;
  uint32_t place_;
};

using LayoutPtr = std::shared_ptr<const Layout>;  // none: no arguments

// The layouts in the kernel's table; sites with the same arguments share one.
class Layouts {
 public:
  explicit Layouts(Switching& switching) : switching_(switching) {}

  // Nearly every call by a pointer has a layout of its own, and every site with symbols in a file that can be loaded
  // anywhere: these may take half of the table.
  static constexpr uint32_t kMost = TC_MAX_LAYOUTS, kMostOfOwn = TC_MAX_LAYOUTS / 2;

  // Makes a new one only while there are fewer than `most`.
  Result<LayoutPtr> of(const std::shared_ptr<const Arguments>& arguments, uint32_t most = kMost);
  // The parts of the arguments that the kernel reads, as text: equal if they can share a layout.
  static std::string text_of(const Arguments& arguments);

  // The places of layouts in use, by text_of().
  std::map<std::string, uint32_t> all() const;
  // Takes over those of a former daemon; call it before the first is asked for. They are held until end_restoring().
  void restore(const std::map<std::string, uint32_t>& layouts);
  void end_restoring() { saved_.clear(); }

 private:
  Result<LayoutPtr> find_or_add(const Arguments& arguments, uint32_t most);

  Switching& switching_;
  // The last one that was asked for, because functions often share one.
  std::shared_ptr<const Arguments> last_;
  std::weak_ptr<const Layout> last_layout_;
  std::shared_ptr<IdPool> places_ = std::make_shared<IdPool>(1, TC_MAX_LAYOUTS);
  std::map<std::string, std::weak_ptr<const Layout>> by_text_;
  std::vector<LayoutPtr> saved_;
};

// One setting's use of a slot: the values of a tc_hook, without its links.
struct Hook {
  SessionId session = 0;
  uint32_t flags = 0;  // enum tc_hook_flag
  uint32_t stat = 0;
  pid_t tgid = 0;                  // the only process, or 0
  uint16_t set_target = 0;         // as in tc_hook
  uint8_t words_below_caller = 0;  // as in tc_hook
  LayoutPtr layout;                // null if no argument is used
  uint32_t source = 0;
  SpecPtr spec;               // null if the flags say all
  PairPtr pair;               // null if it is no side of a pair
  uint32_t pair_sides = 0;    // enum tc_pair_side
  uint32_t pair_slowest = 0;  // how many its counters list
  Way way = Way::entry;       // that it needs
  bool paused = false;        // in no generation

  bool operator==(const Hook&) const = default;
};

// The data for arming a slot.
struct SlotSite {
  SlotKey key;
  std::shared_ptr<const Object> object;
  bool unmapped = false;  // its process had not mapped the file when this was asked for
  bool nop5 = false;      // as in ArmedSite
  CostClass cost = CostClass::slow;
  std::shared_ptr<const ReturnPlan> returns = {};  // set once a hook has followed calls here
};

struct Slot : SlotSite {
  uint32_t link = 0;           // incarnation of the link that serves it
  Way way = Way::entry;        // of that link
  std::vector<Hook> hooks;     // those of a session together, in the order of Wants
  std::vector<uint32_t> rest;  // indices in the kernel of those not paused, except the first
  // Since boot: until then it stays armed although no session wants it. 0 if it does not linger.
  uint64_t lingers_until_ns = 0;
};

struct Slots {
  explicit Slots(Switching& switching) : layouts(switching) {}

  size_t lingering() const;
  uint64_t next_linger_end_ns() const;  // the first; 0 if nothing lingers

  std::unordered_map<SlotId, Slot> by_id;
  std::unordered_map<SlotKey, SlotId, SlotKeyHash> by_key;
  std::map<uint32_t, Link> links;  // by incarnation
  std::map<uint32_t, std::vector<SlotId>> slots_of_link;
  uint32_t last_incarnation = 0;

  IdPool slot_ids{1, TC_MAX_SLOTS};
  IdPool hook_ids{1, TC_MAX_HOOKS};
  IdPool stat_ids{1, TC_MAX_STATS};
  Layouts layouts;
};

}  // namespace tracectl
