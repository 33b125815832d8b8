// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/saved/restored_state.h"

#include <sys/mman.h>
#include <sys/stat.h>

#include <algorithm>
#include <unordered_set>

#include "daemon/base/mapping.h"
#include "daemon/saved/saved_names.h"

namespace tracectl {
namespace {

constexpr uint32_t kLinkBits = 0xffffffff;  // of tc_generation.link; above it is the handover

std::optional<EngineState> read_state(int fd) {
  struct stat status {};
  if (::fstat(fd, &status) != 0 || status.st_size <= 0) return std::nullopt;
  const auto mapping =
      Mapping::map(fd, 0, static_cast<size_t>(status.st_size), PROT_READ, MAP_PRIVATE);
  if (!mapping) return std::nullopt;
  auto state = decode_engine_state(
      {static_cast<const char*>(mapping->data()), static_cast<size_t>(status.st_size)});
  if (!state) return std::nullopt;
  return std::move(*state);
}

std::vector<uint32_t> numbers_of(const std::vector<SavedDescriptor>& saved) {
  std::vector<uint32_t> all;
  for (const SavedDescriptor& one : saved)
    for (const uint32_t each : numbers_in(one.name)) all.push_back(each);
  return all;
}

void sort_unique(std::vector<uint32_t>& numbers) {
  std::sort(numbers.begin(), numbers.end());
  numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
}

// The descriptor of an object that a user has passed shares its open file with the one that the session
// keeps, and a store may have only the latter.
Fd given_by_user(const DescriptorStore& store, const ObjectState& wanted) {
  for (SavedDescriptor& one : store.look("file.")) {
    struct stat status {};
    if (::fstat(one.fd.get(), &status) == 0 && status.st_dev == wanted.identity.device &&
        status.st_ino == wanted.identity.inode)
      return std::move(one.fd);
  }
  return Fd{};
}

}  // namespace

// The former daemon may have died right after its switch: programs may still run under the epoch before it.
RestoredState RestoredState::begin(DescriptorStore& store, Switching& switching, Reading& reading,
                                   Slots& slots, Saver& saver) {
  RestoredState restored;
  auto states = store.take("engine.");
  auto objects = store.take("object.");
  const auto object_numbers = numbers_of(objects);
  saver.restore(numbers_of(states), object_numbers.empty() ? 0 : std::ranges::max(object_numbers));
  for (SavedDescriptor& one : store.take("link."))
    if (const auto numbers = numbers_in(one.name); numbers.size() == 2)
      restored.links_[numbers[0]] = {static_cast<Way>(numbers[1]), std::move(one.fd), {}};
  for (SavedDescriptor& one : store.take("beside."))
    if (const auto numbers = numbers_in(one.name); numbers.size() == 1)
      restored.links_[numbers[0]].beside.push_back(std::move(one.fd));
  for (SavedDescriptor& one : store.take("ring."))
    if (const auto numbers = numbers_in(one.name); numbers.size() == 2)
      restored.rings_[numbers[0]][numbers[1]] = std::move(one.fd);
  if (switching.prepare_wait(Progress::of_hits)) switching.wait_for_progress();
  if (restored.take_state(std::move(states), switching.epoch()) &&
      restored.take_objects(std::move(objects), store, reading))
    restored.take_slots(switching, slots);
  else
    restored.state_ = {};
  restored.take_links(switching, slots, saver);
  clear_others(switching, slots);
  for (size_t i = 0; i < restored.objects_.size(); ++i)
    saver.restored(restored.objects_[i], restored.state_.objects[i].number);
  return restored;
}

// If the daemon was killed during a commit there are two states: the one of the current epoch is valid.
bool RestoredState::take_state(std::vector<SavedDescriptor> states, uint64_t epoch) {
  for (auto saved = states.rbegin(); saved != states.rend(); ++saved) {
    auto state = read_state(saved->fd.get());
    if (!state || state->epoch != epoch) continue;
    state_ = std::move(*state);
    return true;
  }
  return false;
}

bool RestoredState::take_objects(std::vector<SavedDescriptor> objects, const DescriptorStore& store,
                                 Reading& reading) {
  for (const ObjectState& wanted : state_.objects) {
    const auto saved = std::find_if(objects.begin(), objects.end(), [&](const auto& one) {
      return one.name == name_of_object(wanted.number);
    });
    Fd fd = saved != objects.end() ? std::move(saved->fd) : given_by_user(store, wanted);
    if (!fd) return false;
    auto object = Object::known(reading, std::move(fd), wanted.path, wanted.facts, wanted.identity);
    if (!object) return false;
    objects_.push_back(std::move(*object));
  }
  return true;
}

void RestoredState::take_slots(Switching& switching, Slots& slots) {
  uint32_t in_force = 0;
  for (const SlotState& one : state_.slots)
    if (take_slot(one, switching, slots))
      in_force += switching.slots()[one.id].generation[0].hook_count;
  switching.in_force()[0] = switching.in_force()[1] = in_force;
  for (const SessionState& session : state_.sessions)
    for (const SlotWantsState& at : session.wants)
      for (const WantState& want : at.wants) stat_ids_.push_back(want.saved.stat);
  for (auto* ids : {&slot_ids_, &hook_ids_, &stat_ids_, &numbers_.specs, &numbers_.set_targets})
    sort_unique(*ids);
  std::erase(numbers_.specs, 0u);
  slots.slot_ids.restore(slot_ids_);
  slots.hook_ids.restore(hook_ids_);
  slots.stat_ids.restore(stat_ids_);
  slots.layouts.restore(state_.layouts);
  slots.last_incarnation = state_.last_incarnation;
  numbers_.last_source = state_.last_source;
  numbers_.last_serial = state_.last_serial;
  numbers_.last_pair = state_.last_pair;
}

// Both generations of the slot become the one in force.
bool RestoredState::take_slot(const SlotState& state, Switching& switching, Slots& slots) {
  if (state.id >= switching.slots().size()) return false;
  tc_slot& in_kernel = switching.slots()[state.id];
  tc_generation& active = in_kernel.generation[switching.epoch() & 1];
  const auto link = static_cast<uint32_t>(active.link & kLinkBits);
  const auto saved = links_.find(link);
  if (saved == links_.end() || !saved->second.fd) return false;
  active.link = link;
  // What emulates is not saved: the next daemon may be another one, and have reasons not to emulate.
  if (active.cost == TC_COST_EMULATED) active.cost = TC_COST_SLOW;
  in_kernel.generation[(switching.epoch() & 1) ^ 1] = active;
  Slot slot;
  slot.key = state.key;
  slot.object = objects_[state.object];
  slot.nop5 = state.nop5;
  slot.cost =
      static_cast<CostClass>(std::min(active.cost, static_cast<uint32_t>(last_of(CostClass{}))));
  slot.link = link;
  slot.way = saved->second.way;
  take_hooks(active, switching.hooks(), slot);
  slots.slots_of_link[link].push_back(state.id);
  slots.by_key.emplace(slot.key, state.id);
  slots.by_id.emplace(state.id, std::move(slot));
  slot_ids_.push_back(state.id);
  return true;
}

void RestoredState::take_hooks(const tc_generation& generation, const ChunkedTable<tc_hook>& hooks,
                               Slot& slot) {
  const tc_hook* at = &generation.first;
  const uint32_t count = std::min<uint32_t>(generation.hook_count, TC_MAX_HOOKS_OF_SLOT);
  for (uint32_t i = 0; i < count; ++i) {
    Hook& hook = slot.hooks.emplace_back();
    hook.session = at->session;
    hook.stat = at->stat;
    hook.way = slot.way;
    stat_ids_.push_back(at->stat);
    numbers_.specs.push_back(at->spec);
    if (at->set_target) numbers_.set_targets.push_back(at->set_target - 1u);
    if (i + 1 == count || at->next >= hooks.size()) break;
    slot.rest.push_back(at->next);
    hook_ids_.push_back(at->next);
    at = &hooks[at->next];
  }
}

// Links that serve no slot are closed.
void RestoredState::take_links(Switching& switching, Slots& slots, Saver& saver) {
  for (auto& [incarnation, saved] : links_) {
    saver.restored(incarnation);
    const auto served = slots.slots_of_link.find(incarnation);
    if (served == slots.slots_of_link.end()) continue;
    const ObjectPtr& object = slots.by_id.at(served->second.front()).object;
    slots.links.emplace(incarnation,
                        Link{switching.long_work(), std::move(saved.fd), incarnation,
                             std::move(saved.beside), switching.leave_to_kernel(object->fd())});
  }
  links_.clear();
}

// Clears all other slots: their numbers will be reused.
void RestoredState::clear_others(Switching& switching, const Slots& slots) {
  if (slots.by_id.empty()) switching.in_force()[0] = switching.in_force()[1] = 0;
  for (SlotId id = 0; id < switching.slots().size(); ++id) {
    tc_slot& slot = switching.slots()[id];
    const bool is_used = slot.generation[0].link || slot.generation[1].link;
    if (is_used && !slots.by_id.contains(id)) slot = tc_slot{};
  }
}

const SessionState* RestoredState::find(const std::string& session) const {
  for (const SessionState& one : state_.sessions)
    if (one.name == session) return &one;
  return nullptr;
}

std::vector<Fd> RestoredState::take_rings(uint32_t session, unsigned cpus) {
  std::vector<Fd> by_cpu;
  auto& saved = rings_[session];
  for (unsigned cpu = 0; cpu < cpus; ++cpu) {
    if (!saved[cpu]) return {};
    by_cpu.push_back(std::move(saved[cpu]));
  }
  return by_cpu;
}

}  // namespace tracectl
