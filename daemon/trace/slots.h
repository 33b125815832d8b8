// SPDX-License-Identifier: BSD-2-Clause
//
// What is armed and set, as the engine knows it. A slot is a site as armed for one filter; it
// holds the hooks of every session that wants it, and the link that serves it. Kept in step with
// the kernel's tables by Staging, the only writer.
#pragma once

#include <sys/types.h>

#include <compare>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "daemon/base/result.h"
#include "daemon/kernel/kernel.h"
#include "daemon/model/probe.h"
#include "daemon/trace/id_pool.h"
#include "daemon/trace/object.h"
#include "daemon/trace/pairs.h"
#include "daemon/trace/specs.h"

namespace tracectl {

using SessionId = uint16_t;
static_assert(TC_MAX_SESSIONS - 1 <= UINT8_MAX);  // as tc_hook has it

struct SlotKey {
  dev_t device = 0;
  ino_t inode = 0;
  pid_t filter = 0;           // the process it is armed in, or 0 for all that map the file
  uint64_t filter_birth = 0;  // of that process: its id may come to mean another
  uint64_t offset = 0;
  uint64_t semaphore = 0;

  auto operator<=>(const SlotKey&) const = default;
};

struct SlotKeyHash {
  // Sites of one file and process differ in their offsets only; the rest tells files apart.
  size_t operator()(const SlotKey& key) const {
    constexpr size_t kOdd = 0x9e3779b97f4a7c15;  // spreads neighbours over all bits
    return (key.offset * kOdd) ^ (key.inode * kOdd >> 7) ^ static_cast<size_t>(key.filter);
  }
};

// A form of arguments in the kernel's table. Its place is free again when nobody holds it: hooks do, as they hold
// specs.
class Layout {
 public:
  // There must be a place.
  explicit Layout(std::shared_ptr<IdPool> places)
      : places_(std::move(places)), place_(places_->take().value()) {}
  // Of a former daemon: the place is taken.
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

// Arguments in the kernel's table, each kept once however many sites share them.
class Layouts {
 public:
  explicit Layouts(Kernel& kernel) : kernel_(kernel) {}

  // Of calls by pointers nearly each has a form of its own: they leave half of the table to others.
  static constexpr uint32_t kMost = TC_MAX_LAYOUTS, kMostOfCallees = TC_MAX_LAYOUTS / 2;

  // A new one is made only while there are less than `most`.
  Result<LayoutPtr> of(const std::shared_ptr<const Arguments>& arguments, uint32_t most = kMost);
  // What the kernel reads of the arguments: which of them are alike.
  static std::string text_of(const Arguments& arguments);

  // The places of those that are held, by text_of().
  std::map<std::string, uint32_t> all() const;
  // Those of a former daemon, before the first is asked for. They are held until end_adoption().
  void adopt(const std::map<std::string, uint32_t>& layouts);
  void end_adoption() { former_.clear(); }

 private:
  Result<LayoutPtr> find_or_add(const Arguments& arguments, uint32_t most);

  Kernel& kernel_;
  // Asked for last: functions share theirs.
  std::shared_ptr<const Arguments> last_;
  std::weak_ptr<const Layout> last_layout_;
  std::shared_ptr<IdPool> places_ = std::make_shared<IdPool>(1, TC_MAX_LAYOUTS);
  std::map<std::string, std::weak_ptr<const Layout>> by_text_;
  std::vector<LayoutPtr> former_;
};

// What one setting wants of a slot: the plain values of a tc_hook but for its links.
struct Hook {
  SessionId session = 0;
  uint32_t flags = 0;  // enum tc_hook_flag
  uint32_t stat = 0;
  pid_t tgid = 0;                  // the only process, or 0
  uint16_t set_target = 0;         // as in tc_hook
  uint8_t words_below_caller = 0;  // as in tc_hook
  LayoutPtr layout;                // none if nothing of the arguments is wanted
  uint32_t source = 0;
  SpecPtr spec;               // none if its flags say it all
  PairPtr pair;               // of which it is these sides, or none
  uint32_t pair_sides = 0;    // enum tc_pair_side
  uint32_t pair_slowest = 0;  // how many its counters list
  Way way = Way::entry;       // that it needs
  bool paused = false;        // no generation has it

  bool operator==(const Hook&) const = default;
};

// What arming a slot takes.
struct SlotSite {
  SlotKey key;
  std::shared_ptr<const Object> object;
  bool unmapped = false;  // its process had not mapped the file when this was asked for
  bool nop5 = false;      // as in ArmedSite
  std::shared_ptr<const ReturnPlan> returns = {};  // once a hook has followed calls here
};

struct Slot : SlotSite {
  uint32_t link = 0;           // incarnation of the link that serves it
  Way way = Way::entry;        // of that link
  std::vector<Hook> hooks;     // those of a session together, in the order of Wants
  std::vector<uint32_t> rest;  // indices in the kernel of those that are not paused, but the first
  uint64_t lingers_until_ns =
      0;  // since boot; no session wants it, and it stays armed. 0: it does not
};

struct Slots {
  explicit Slots(Kernel& kernel) : layouts(kernel) {}

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
