// SPDX-License-Identifier: BSD-2-Clause
//
// A commit, from writing the inactive generation to freeing what is no longer used: the sequence of the
// Erlang run-time's non-blocking trace setting (OTP R16), on BPF.
//
//   Staging staging(switching, slots);
//   staging.want(site, session, hooks) / staging.drop(slot, session)   the changes
//   staging.build()      allocate, write the inactive generation, arm    [may fail]
//   staging.activate()   the switch, wait, disarm, copy back, free       [cannot fail]
//
// Until activate() the destructor undoes everything: the inactive generation becomes the copy of
// the active one again, new slots and hooks are free, new links are closed.
//
// The waits. A program loads the epoch once, and then reads only what that generation points to. So:
//  - before arming and before switching no wait is needed: nobody reads the inactive generation (the
//    last commit has waited for that), and on every machine that keeps the order of address-dependent
//    loads a release store of the epoch makes the staged settings visible first;
//  - after the switch there is one wait. Then nobody reads the old generation any more: it may be
//    overwritten, its hooks freed, its counters taken as final. If a link is replaced by another, the
//    wait is for whole hits, because a hit runs the programs of both (bpf/handover.bpf.h);
//  - closing a link waits until no program of its sites runs, so a slot's number can be used again
//    afterwards.
//
// After the switch nothing may fail, also not for lack of memory: all memory is taken before.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "daemon/base/result.h"
#include "daemon/switching/slots.h"

namespace tracectl {

struct Phases {  // nanoseconds
  uint64_t stage = 0, arm = 0, wait = 0, switch_ = 0, disarm = 0;
};

class Staging {
 public:
  // A site that loses its last hook stays armed until `linger_until_ns` since boot, unless that is 0.
  Staging(Switching& switching, Slots& slots, uint64_t linger_until_ns = 0)
      : switching_(switching), slots_(slots), linger_until_ns_(linger_until_ns) {}
  ~Staging();
  Staging(const Staging&) = delete;
  Staging& operator=(const Staging&) = delete;

  // Gives the session these hooks at the site from the switch on, in place of those it has. Returns the slot.
  Result<SlotId> want(const SlotSite& site, SessionId session, const std::vector<Hook>& hooks);
  // Takes the session's hooks off the slot from the switch on.
  void drop(SlotId slot, SessionId session);
  // Disarms a slot that lingers.
  void end_lingering(SlotId slot) { change(slot).lingers_until_ns = 0; }

  // By how much the tables of slots and hooks must grow for the changes so far.
  uint64_t bytes_to_grow() const;

  // A site that the kernel would not arm.
  struct RefusedSite {
    SlotKey key;
    std::string reason;
  };

  // Arms all or nothing. On failure refused() has the sites that the kernel refused.
  Status build();
  const std::vector<RefusedSite>& refused() const { return refused_; }

  // The link that serves a slot after the switch.
  uint32_t link_of(SlotId slot) const;
  const Link& link(uint32_t incarnation) const;
  const std::vector<SlotId>& slots_of(uint32_t incarnation) const;
  Way way_of(SlotId slot) const;

  // The point of no return. After the wait nobody writes to old counters. Then `let_go` runs, after which nobody else
  // has descriptors of old links; and `retired` runs when these are closed.
  uint64_t activate(const std::function<void()>& let_go, const std::function<void()>& retired);

  const Phases& phases() const { return phases_; }
  // The first hits of the CPUs that had one between the switch and the end of the wait.
  std::vector<FirstHit> take_first_hits() { return std::move(first_hits_); }

 private:
  struct Change {
    bool is_new = false;
    std::vector<Hook> hooks;        // after the switch
    uint64_t lingers_until_ns = 0;  // after the switch
    std::vector<uint32_t> rest;     // allocated for those not paused, except the first
    uint32_t link = 0;              // after the switch
    Way way = Way::entry;           // of that link
    std::shared_ptr<const ReturnPlan> returns;
    tc_handover handover = TC_NO_HANDOVER;  // from the link it has now, which is closed then

    bool is_armed() const { return !hooks.empty() || lingers_until_ns; }  // after the switch
  };

  // One change for each slot, in the order in which slots were named first.
  class ChangesBySlot {
   public:
    // After this the next add() of a slot below `end` takes no memory.
    void make_room(uint32_t end);
    Change& add(SlotId slot);
    Change* find(SlotId slot);
    const Change* find(SlotId slot) const { return has(slot) ? &at(slot) : nullptr; }
    Change& at(SlotId slot) { return changes_[places_[slot] - 1].second; }
    const Change& at(SlotId slot) const { return changes_[places_[slot] - 1].second; }
    auto begin() { return changes_.begin(); }
    auto end() { return changes_.end(); }
    auto begin() const { return changes_.begin(); }
    auto end() const { return changes_.end(); }

    // All slots that are named have numbers below this.
    uint32_t end_of_slots() const { return end_of_slots_; }

   private:
    bool has(SlotId slot) const { return slot < places_.size() && places_[slot]; }

    std::vector<std::pair<SlotId, Change>> changes_;
    std::vector<uint32_t> places_;  // 1 + index, or 0
    uint32_t end_of_slots_ = 0;
  };

  Change& change(SlotId slot);
  Status stage();
  void plan_links();
  void plan_way(SlotId slot, Change& change);
  void plan_handover(SlotId slot, uint32_t incarnation);
  bool hands_over() const;
  Status allocate_hooks();
  Status make_room();
  void write_staging();
  Status arm();
  size_t places_to_arm() const;
  std::span<const ExitSite> exits_of(SlotId slot) const;  // that are armed with it
  std::optional<Error> arm_one(uint32_t incarnation, const std::vector<SlotId>& ids);
  bool is_over(const ArmFailure& failure, const std::vector<SlotId>& ids) const;
  void disarm(const std::function<void()>& let_go);
  void end_handovers();
  void copy_active();  // to the other generation
  void free_old();
  void forget(SlotId slot);
  void write_generation(SlotId slot, unsigned generation, const Change& change);
  unsigned active() const { return switching_.epoch() & 1; }

  Switching& switching_;
  Slots& slots_;
  uint64_t linger_until_ns_;
  ChangesBySlot changes_;
  std::map<uint32_t, std::vector<SlotId>> new_links_;  // by incarnation: the slots to arm
  std::vector<uint32_t> old_links_;                    // to close after the switch
  std::map<uint32_t, Link> armed_;                     // until the switch
  std::vector<FirstHit> first_hits_;
  std::vector<RefusedSite> refused_;
  Phases phases_;
  bool written_ = false;
  bool switched_ = false;
};

}  // namespace tracectl
