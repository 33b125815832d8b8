// SPDX-License-Identifier: BSD-2-Clause
//
// Writes the state of saved sessions, so that they outlive the daemon. Before each switch the store gets the state
// that the next daemon needs after the switch, with the epoch for which it is valid. If the daemon is killed before
// the switch, the previous state is valid; if it is killed after the switch, the new one is. The next daemon restores
// it in restoring.cpp.
#include "daemon/sessions/saving.h"

#include <algorithm>

#include "daemon/saved/said.h"

namespace tracectl {
namespace {

// The data of a session after a switch, or now.
struct InForce {
  const std::vector<Setting>& settings;
  const Coverage* coverage;
  const std::unordered_map<SlotId, SessionHooks>& hooks;
  bool paused, gated;
};

InForce in_force(const Session& session, const Commit* change) {
  if (change)
    return {change->settings(), change->coverage(), change->hooks(), change->is_paused(),
            change->is_gated()};
  return {session.settings, session.coverage.get(), session.hooks, session.paused, session.gated};
}

// Writes a state, which refers to objects and parts by their indices in its lists.
class StateWriter {
 public:
  StateWriter(EngineState& state, const Slots& slots) : state_(state), slots_(slots) {}

  Status add(const Session& session, const InForce& will_be, Saver& saver);
  Status add_slot(SlotId id, Saver& saver);

 private:
  Result<uint32_t> number_of(const ObjectPtr& object, Saver& saver);
  static SlotWantsState wants_of(SlotId slot, const Wants& wants, const SessionHooks& held,
                                 const std::unordered_map<const WantedPart*, uint32_t>& parts);

  EngineState& state_;
  const Slots& slots_;
  std::map<const Object*, uint32_t> objects_;
};

Result<uint32_t> StateWriter::number_of(const ObjectPtr& object, Saver& saver) {
  if (const auto known = objects_.find(object.get()); known != objects_.end()) return known->second;
  auto number = saver.save_object(object);
  if (!number) return number.error();
  state_.objects.push_back({.number = *number,
                            .path = object->path(),
                            .facts = object->facts(),
                            .identity = object->identity()});
  return objects_[object.get()] = static_cast<uint32_t>(state_.objects.size() - 1);
}

Status StateWriter::add_slot(SlotId id, Saver& saver) {
  const Slot& slot = slots_.by_id.at(id);
  auto object = number_of(slot.object, saver);
  if (!object) return object.error();
  state_.slots.push_back({id, slot.key, *object, slot.nop5});
  return ok();
}

// Some wants may have no hook, because they were left out for their cost.
SlotWantsState StateWriter::wants_of(SlotId slot, const Wants& wants, const SessionHooks& held,
                                     const std::unordered_map<const WantedPart*, uint32_t>& parts) {
  SlotWantsState saved{.slot = slot, .wants = {}};
  auto one = held.begin();
  for (const Want& want : wants) {
    if (one == held.end()) break;
    if (*one->probe != want.probe->name || one->hook.pair_sides != want.sides) continue;
    const Hook& hook = one++->hook;
    saved.wants.push_back(
        {.part = parts.at(want.part),
         .probe = static_cast<uint32_t>(want.probe - want.part->probes->data()),
         .site = static_cast<uint32_t>(want.site - want.probe->sites.data()),
         .sides = want.sides,
         .saved = {.stat = hook.stat,
                   .source = hook.source,
                   .pair = hook.pair ? hook.pair->number() : 0,
                   .serial = hook.flags & TC_CALL ? hook.flags >> TC_SERIAL_SHIFT : 0,
                   .set_target = hook.set_target}});
  }
  return saved;
}

Status StateWriter::add(const Session& session, const InForce& will_be, Saver& saver) {
  SessionState saved{.name = session.name,
                     .id = session.id,
                     .epoch = session.epoch,
                     .paused = will_be.paused,
                     .gated = will_be.gated,
                     .is_dumped = session.is_dumped,
                     .marks = session.marks,
                     .has_rings = session.has_rings,
                     .tags = session.tags,
                     .settings = {},
                     .left_out = {},
                     .parts = {},
                     .wants = {}};
  if (session.budget) saved.left_out = session.budget->left_out;
  for (const Setting& setting : will_be.settings)
    saved.settings.push_back({said_in(setting), setting.target.unit_cgroups, setting.graph.grown});
  std::unordered_map<const WantedPart*, uint32_t> parts;
  for (const WantedPart& part : will_be.coverage->parts) {
    auto object = number_of(part.object, saver);
    if (!object) return object.error();
    parts.emplace(&part, static_cast<uint32_t>(saved.parts.size()));
    saved.parts.push_back({.object = *object,
                           .of = part.of,
                           .what = part.what,
                           .of_one_file = part.of_one_file,
                           .sides = part.sides,
                           .pid = part.process ? part.process->pid() : 0,
                           .birth = part.process ? part.process->birth() : 0,
                           .unmapped = part.unmapped,
                           .follow = part.follow,
                           .executable = part.executable,
                           .cgroup = part.cgroup,
                           .probes = part.probes});
  }
  for (const SlotWants& at : will_be.coverage->wants) {
    const auto slot = slots_.by_key.find(at.key);
    if (slot == slots_.by_key.end()) continue;
    const auto held = will_be.hooks.find(slot->second);
    if (held == will_be.hooks.end()) continue;
    saved.wants.push_back(wants_of(slot->second, at.wants, held->second, parts));
  }
  saved.past = session.past;
  state_.sessions.push_back(std::move(saved));
  return ok();
}

}  // namespace

Saving::Saving(Kernel& kernel, Slots& slots, const Hooks& hooks, const Sessions& sessions,
               DescriptorStore* store, size_t ring_bytes)
    : kernel_(kernel),
      slots_(slots),
      hooks_(hooks),
      sessions_(sessions),
      ring_bytes_(ring_bytes),
      saver_(store ? std::make_unique<Saver>(*store, kernel.long_work()) : nullptr) {}

Status Saving::save_rings(const Session& session, const std::vector<Fd>& by_cpu) {
  return session.saved && saver_ ? saver_->save_rings(session.id, by_cpu) : ok();
}

void Saving::forget_rings(const Session& session) {
  if (session.saved && saver_) saver_->forget_rings(session.id, kernel_.cpu_count());
}

// Stores the state of saved sessions after the switch; null: their state now.
Status Saving::save(const Switch* change) {
  if (!saver_) return ok();
  const bool any = std::any_of(sessions_.begin(), sessions_.end(),
                               [](const auto& entry) { return entry.second.saved; });
  if (!any && !saver_->has_state()) return ok();
  if (any)
    if (auto saved = saver_->save_kernel(kernel_); !saved) return saved;
  EngineState state{.epoch = kernel_.switching().epoch() + (change ? 1 : 0),
                    .ring_bytes = ring_bytes_,
                    .last_source = hooks_.last_source(),
                    .last_serial = hooks_.last_serial(),
                    .last_pair = hooks_.last_pair(),
                    .last_incarnation = slots_.last_incarnation,
                    .layouts = slots_.layouts.all(),
                    .objects = {},
                    .slots = {},
                    .sessions = {}};
  const Staging as_it_is(kernel_.switching(), slots_);
  const Staging& staging = change ? change->staging() : as_it_is;
  StateWriter writer(state, slots_);
  std::set<uint32_t> links;
  for (const auto& [name, session] : sessions_) {
    if (!session.saved) continue;
    const InForce will_be = in_force(session, change ? change->commit_of(session) : nullptr);
    if (!will_be.coverage) continue;
    if (auto added = writer.add(session, will_be, *saver_); !added) return added;
    for (const auto& [slot, held] : will_be.hooks) links.insert(staging.link_of(slot));
  }
  for (const uint32_t link : links) {
    const auto& slots = staging.slots_of(link);
    for (const SlotId slot : slots)
      if (auto added = writer.add_slot(slot, *saver_); !added) return added;
    const Way way = staging.way_of(slots.front());
    if (auto saved = saver_->save_link(staging.link(link), way); !saved) return saved;
  }
  auto saved = saver_->save_state(state);
  if (saved) links_ = std::move(links);
  return saved;
}

// If the store has no room, the counts of former hooks are lost with the daemon.
void Saving::save_past() {
  if (!saver_ || !saver_->has_state()) return;
  if (save(nullptr)) drop_unused();
}

}  // namespace tracectl
