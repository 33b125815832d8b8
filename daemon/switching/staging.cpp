// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/switching/staging.h"

#include <algorithm>
#include <set>

#include "daemon/base/clock.h"
#include "daemon/switching/steps.h"

namespace tracectl {
namespace {

Error full(const char* table, uint32_t limit) {
  return Error{Code::exhausted, std::string("the table of ") + table + " is full (" +
                                    std::to_string(limit) +
                                    "): remove settings of this or "
                                    "another session"};
}

size_t count_in_force(const std::vector<Hook>& hooks) {
  return static_cast<size_t>(
      std::count_if(hooks.begin(), hooks.end(), [](const Hook& hook) { return !hook.paused; }));
}

// The process is compared even where the link filters by it: before Linux 6.12 every task that shares the memory passes
// such a filter, a child of vfork() for example (kernel/trace/bpf_trace.c, uprobe_prog_run).
tc_hook kernel_hook(const Hook& hook, uint32_t next) {
  return tc_hook{.flags = hook.flags,
                 .stat = hook.stat,
                 .tgid = static_cast<uint32_t>(hook.tgid),
                 .set_target = hook.set_target,
                 .session = static_cast<uint8_t>(hook.session),
                 .words_below_caller = hook.words_below_caller,
                 .layout = hook.layout ? hook.layout->place() : 0,
                 .source = hook.source,
                 .next = next,
                 .spec = hook.spec ? hook.spec->place() : 0};
}

}  // namespace

// ---- changes ----

void Staging::ChangesBySlot::make_room(uint32_t end) {
  if (changes_.size() == changes_.capacity())
    changes_.reserve(std::max<size_t>(2 * changes_.size(), 16));
  if (end > places_.size()) places_.resize(std::max<size_t>(end, 2 * places_.size()));
}

Staging::Change& Staging::ChangesBySlot::add(SlotId slot) {
  make_room(slot + 1);
  end_of_slots_ = std::max(end_of_slots_, slot + 1);
  changes_.emplace_back(slot, Change{});
  places_[slot] = static_cast<uint32_t>(changes_.size());
  return changes_.back().second;
}

Staging::Change* Staging::ChangesBySlot::find(SlotId slot) {
  return has(slot) ? &at(slot) : nullptr;
}

Staging::Change& Staging::change(SlotId slot) {
  if (Change* known = changes_.find(slot)) return *known;
  const Slot& now = slots_.by_id.at(slot);
  Change& fresh = changes_.add(slot);
  fresh.hooks = now.hooks;
  fresh.lingers_until_ns = now.lingers_until_ns;
  fresh.link = now.link;
  fresh.way = now.way;
  fresh.returns = now.returns;
  return fresh;
}

Result<SlotId> Staging::want(const SlotSite& site, SessionId session,
                             const std::vector<Hook>& wanted) {
  auto found = slots_.by_key.find(site.key);
  if (found == slots_.by_key.end()) {
    changes_.make_room(slots_.slot_ids.end() + 1);  // takes memory before a number
    const auto id = slots_.slot_ids.take();
    if (!id) return full("armed sites", slots_.slot_ids.limit());
    changes_.add(*id).is_new = true;
    slots_.by_id[*id] = Slot{site, 0, Way::entry, {}, {}, 0};
    found = slots_.by_key.emplace(site.key, *id).first;
    reached(Step::allocate);
  }
  Change& staged = change(found->second);
  staged.lingers_until_ns = 0;
  if (site.returns) staged.returns = site.returns;
  auto& hooks = staged.hooks;
  std::erase_if(hooks, [&](const Hook& hook) { return hook.session == session; });
  hooks.insert(hooks.end(), wanted.begin(), wanted.end());
  if (hooks.size() > TC_MAX_HOOKS_OF_SLOT)
    return Error{Code::exhausted, "more than " + std::to_string(int{TC_MAX_HOOKS_OF_SLOT}) +
                                      " settings want one site"};
  return found->second;
}

// A probe with a semaphore never lingers: while it is armed, its program computes the arguments.
void Staging::drop(SlotId slot, SessionId session) {
  Change& staged = change(slot);
  std::erase_if(staged.hooks, [&](const Hook& h) { return h.session == session; });
  if (staged.hooks.empty() && !slots_.by_id.at(slot).key.semaphore)
    staged.lingers_until_ns = linger_until_ns_;
}

// ---- before the switch ----

Status Staging::build() {
  if (auto staged = stage(); !staged) return staged;
  reached(Step::stage);
  return arm();
}

Status Staging::stage() {
  Stopwatch watch(phases_.stage);
  first_hits_.reserve(switching_.most_first_hits());
  plan_links();
  const auto progress = hands_over() ? Progress::of_hits : Progress::of_programs;
  if (auto prepared = switching_.prepare_wait(progress); !prepared) return prepared;
  if (auto allocated = allocate_hooks(); !allocated) return allocated;
  if (auto made = make_room(); !made) return made;
  write_staging();
  return ok();
}

// Chooses the way that serves all hooks. Open calls must end by the way by which they began, so a slot does
// not change from exits to the trampoline while its calls are followed.
void Staging::plan_way(SlotId slot, Change& change) {
  Way way = Way::counting;
  for (const Hook& hook : change.hooks) way = std::max(way, hook.way);
  if (change.hooks.empty()) return;
  const Way now = slots_.by_id.at(slot).way;
  change.way = way == Way::trampoline && now == Way::exits ? now : way;
}

void Staging::plan_handover(SlotId slot, uint32_t incarnation) {
  Change& staged = changes_.at(slot);
  staged.link = incarnation;
  staged.handover = slots_.by_id.at(slot).key.filter ? TC_HANDOVER_OF_ONE : TC_HANDOVER_OF_ALL;
}

// A link cannot shrink, grow or change its way. New slots, and slots whose way changes, get new links, one
// for each file, filter and way. A link that loses some of its slots is replaced by one for those that
// stay. Where each site takes a descriptor and a grace period of its own, each has a link of its own instead: then
// taking one off arms and disarms no others.
void Staging::plan_links() {
  std::set<uint32_t> losing;
  std::map<std::tuple<dev_t, ino_t, pid_t, uint64_t, Way, SlotId>, uint32_t> fresh;
  const bool alone = switching_.disarms_one_by_one();
  for (auto& [id, change] : changes_) {
    plan_way(id, change);
    const Slot& slot = slots_.by_id.at(id);
    const bool changes_way = change.is_armed() && change.way != slot.way && !change.is_new;
    if ((!change.is_armed() || changes_way) && change.link) losing.insert(change.link);
    if (!change.is_new && !changes_way) continue;
    const SlotKey& key = slot.key;
    uint32_t& incarnation =
        fresh[{key.device, key.inode, key.filter, key.filter_birth, change.way, alone ? id : 0}];
    if (!incarnation) incarnation = ++slots_.last_incarnation;
    if (changes_way) plan_handover(id, incarnation);
    change.link = incarnation;
    new_links_[incarnation].push_back(id);
  }
  for (const uint32_t old : losing) {
    old_links_.push_back(old);
    std::vector<SlotId> stay;
    for (const SlotId id : slots_.slots_of_link.at(old))
      if (change(id).is_armed() && change(id).link == old) stay.push_back(id);
    if (stay.empty()) continue;
    const uint32_t incarnation = ++slots_.last_incarnation;
    for (const SlotId id : stay) plan_handover(id, incarnation);
    new_links_[incarnation] = std::move(stay);
  }
}

bool Staging::hands_over() const {
  return std::any_of(changes_.begin(), changes_.end(),
                     [](const auto& entry) { return entry.second.handover != TC_NO_HANDOVER; });
}

Status Staging::allocate_hooks() {
  for (auto& [id, change] : changes_) {
    const size_t in_force = count_in_force(change.hooks);
    if (in_force > 1) change.rest.reserve(in_force - 1);
    while (change.rest.size() + 1 < in_force) {
      const auto hook = slots_.hook_ids.take();
      if (!hook) return full("hooks", slots_.hook_ids.limit());
      change.rest.push_back(*hook);
    }
  }
  return ok();
}

Status Staging::make_room() {
  uint32_t hooks_end = 0;
  for (const auto& [id, change] : changes_)
    for (const uint32_t hook : change.rest) hooks_end = std::max(hooks_end, hook + 1);
  return switching_.make_room(changes_.end_of_slots(), hooks_end);
}

// The numbers of hooks are not taken yet: as if each were the next one that no hook has had.
uint64_t Staging::bytes_to_grow() const {
  size_t rest = 0;
  for (const auto& [id, change] : changes_)
    rest += std::max<size_t>(count_in_force(change.hooks), 1) - 1;
  const size_t hooks_end = rest ? slots_.hook_ids.used() + rest + 1 : 0;
  return switching_.bytes_to_make(changes_.end_of_slots(), static_cast<uint32_t>(hooks_end));
}

void Staging::write_generation(SlotId slot, unsigned generation, const Change& change) {
  const auto& rest = change.rest;
  tc_generation& to = switching_.slots()[slot].generation[generation];
  to.first = tc_hook{};
  uint32_t count = 0;
  for (const Hook& hook : change.hooks) {
    if (hook.paused) continue;
    tc_hook& place = count == 0 ? to.first : switching_.hooks()[rest[count - 1]];
    place = kernel_hook(hook, count < rest.size() ? rest[count] : 0);
    ++count;
  }
  to.link = uint64_t{change.handover} << 32 | change.link;
  to.pushed = change.returns ? change.returns->pushed_bytes : 0;
  to.moved = change.returns ? change.returns->moved_bytes : 0;
  to.cost = static_cast<uint32_t>(slots_.by_id.at(slot).cost);
  to.hook_count = count;
}

void Staging::write_staging() {
  written_ = true;
  const unsigned staged = active() ^ 1;
  uint32_t in_force = switching_.in_force()[active()];
  for (const auto& [id, change] : changes_) {
    tc_slot& slot = switching_.slots()[id];
    if (change.is_new) slot = tc_slot{};
    write_generation(id, staged, change);
    in_force += slot.generation[staged].hook_count - slot.generation[active()].hook_count;
  }
  switching_.in_force()[staged] = in_force;
}

void Staging::copy_active() {
  for (const auto& [id, change] : changes_) {
    tc_slot& slot = switching_.slots()[id];
    slot.generation[active() ^ 1] = slot.generation[active()];
  }
  switching_.in_force()[active() ^ 1] = switching_.in_force()[active()];
}

Status Staging::arm() {
  Stopwatch watch(phases_.arm);
  if (auto room = switching_.prepare_arm(places_to_arm()); !room) return room;
  std::optional<Error> first_error;
  for (const auto& [incarnation, ids] : new_links_) {
    auto error = arm_one(incarnation, ids);
    if (error && !first_error) first_error = std::move(error);
    if (first_error && first_error->code == Code::exhausted) break;
  }
  if (first_error) return *first_error;
  return ok();
}

size_t Staging::places_to_arm() const {
  size_t places = 0;
  for (const auto& [incarnation, ids] : new_links_)
    for (const SlotId id : ids) places += 1 + exits_of(id).size();
  return places;
}

std::span<const ExitSite> Staging::exits_of(SlotId slot) const {
  const Change& staged = changes_.at(slot);
  if (!staged.returns || staged.way != Way::exits) return {};
  return staged.returns->exits;
}

std::optional<Error> Staging::arm_one(uint32_t incarnation, const std::vector<SlotId>& ids) {
  const Slot& any = slots_.by_id.at(ids.front());
  ArmRequest request{.object_fd = any.object->fd(),
                     .object_path = any.object->path(),
                     .filter = any.key.filter,
                     .unmapped = any.unmapped,
                     .incarnation = incarnation,
                     .way = changes_.at(ids.front()).way,
                     .sites = {}};
  for (const SlotId id : ids) {
    const Slot& slot = slots_.by_id.at(id);
    request.sites.push_back(
        {id, slot.key.offset, slot.key.semaphore, slot.nop5, slot.cost, exits_of(id)});
  }
  auto armed = switching_.arm(request);
  if (auto* link = std::get_if<Link>(&armed)) {
    armed_.emplace(incarnation, std::move(*link));
    reached(Step::arm);
    return std::nullopt;
  }
  const auto& failure = std::get<ArmFailure>(armed);
  if (is_over(failure, ids)) return std::nullopt;
  for (const auto& site : failure.refused_sites)
    refused_.push_back({slots_.by_id.at(ids[site.index]).key, site.reason});
  return failure.error;
}

// Whether the process has ended, and its sites with it: a link that only replaces others is not needed then.
bool Staging::is_over(const ArmFailure& failure, const std::vector<SlotId>& ids) const {
  return failure.error.code == Code::not_found &&
         std::none_of(ids.begin(), ids.end(), [&](SlotId id) { return changes_.at(id).is_new; });
}

Staging::~Staging() {
  if (switched_) return;
  armed_.clear();  // waits until nothing runs at the new slots
  if (written_) copy_active();
  for (auto& [id, change] : changes_) {
    for (const uint32_t hook : change.rest) slots_.hook_ids.give_back(hook);
    if (change.is_new) forget(id);
  }
}

void Staging::forget(SlotId slot) {
  if (const auto known = slots_.by_id.find(slot); known != slots_.by_id.end()) {
    slots_.by_key.erase(known->second.key);
    slots_.by_id.erase(known);
  }
  slots_.slot_ids.give_back(slot);
}

uint32_t Staging::link_of(SlotId slot) const {
  const Change* change = changes_.find(slot);
  return change ? change->link : slots_.by_id.at(slot).link;
}

Way Staging::way_of(SlotId slot) const {
  const Change* change = changes_.find(slot);
  return change ? change->way : slots_.by_id.at(slot).way;
}

const std::vector<SlotId>& Staging::slots_of(uint32_t incarnation) const {
  const auto fresh = new_links_.find(incarnation);
  return fresh != new_links_.end() ? fresh->second : slots_.slots_of_link.at(incarnation);
}

const Link& Staging::link(uint32_t incarnation) const {
  const auto armed = armed_.find(incarnation);
  return armed != armed_.end() ? armed->second : slots_.links.at(incarnation);
}

// ---- the switch, and after it ----

uint64_t Staging::activate(const std::function<void()>& let_go,
                           const std::function<void()>& retired) {
  const uint64_t epoch = switching_.epoch() + 1;
  switched_ = true;
  {
    Stopwatch watch(phases_.switch_);
    switching_.activate(epoch);
  }
  reached(Step::switch_);
  {
    // The old generation is overwritten below, and its counters are read as final. Before a link is
    // replaced, the remaining programs of a hit must also have run, because they share the hit.
    Stopwatch watch(phases_.wait);
    switching_.wait_for_progress();
    switching_.take_first_hits(first_hits_);  // while it is measured: hits go on
  }
  reached(Step::wait);
  disarm(let_go);
  end_handovers();
  retired();
  copy_active();
  reached(Step::copy_back);
  free_old();
  reached(Step::free);
  return epoch;
}

// Call it after the old links are closed: until Linux 6.11 only closing them waits for hits under way.
void Staging::end_handovers() {
  for (const auto& [id, change] : changes_)
    if (change.handover)
      __atomic_store_n(&switching_.slots()[id].generation[active()].link, uint64_t{change.link},
                       __ATOMIC_RELAXED);
}

// A link is closed, and its sites are disarmed, with its last descriptor: that must be this one.
void Staging::disarm(const std::function<void()>& let_go) {
  Stopwatch watch(phases_.disarm);
  let_go();
  slots_.links.merge(armed_);
  slots_.slots_of_link.merge(new_links_);
  for (const uint32_t incarnation : old_links_) {
    slots_.links.erase(incarnation);
    slots_.slots_of_link.erase(incarnation);
    reached(Step::disarm);
  }
}

void Staging::free_old() {
  for (auto& [id, change] : changes_) {
    Slot& slot = slots_.by_id.at(id);
    for (const uint32_t hook : slot.rest) slots_.hook_ids.give_back(hook);
    const bool stays = change.is_armed();
    slot.hooks = std::move(change.hooks);
    slot.rest = std::move(change.rest);
    slot.lingers_until_ns = change.lingers_until_ns;
    slot.link = change.link;
    slot.way = change.way;
    slot.returns = std::move(change.returns);
    slot.unmapped = false;  // its instruction has been placed once
    if (!stays) forget(id);
  }
}

}  // namespace tracectl
