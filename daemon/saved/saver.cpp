// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/saved/saver.h"

#include "daemon/base/file_in_memory.h"
#include "daemon/saved/saved_names.h"

namespace tracectl {

Status Saver::save_kernel(Kernel& kernel) {
  if (has_kernel_) return ok();
  auto saved = kernel.save_in(store_);
  has_kernel_ = saved.has_value();
  return saved;
}

Status Saver::save_link(const Link& link, Way way) {
  // Noted first: as soon as a part of it is saved, there is something to forget.
  if (!links_.insert(link.incarnation()).second) return ok();
  // The descriptors beside it come first, so that a link that is found is complete.
  for (const Fd& beside : link.beside())
    if (auto saved = store_.save(name_of_beside(link.incarnation()), beside.get()); !saved)
      return saved;
  return store_.save(name_of_link(link.incarnation(), way), link.fd());
}

void Saver::forget_link(uint32_t incarnation) {
  for (const Way way : {Way::counting, Way::entry, Way::sleeping, Way::trampoline, Way::exits})
    store_.forget(name_of_link(incarnation, way));
  store_.forget(name_of_beside(incarnation));
}

Status Saver::save_rings(uint32_t session, const std::vector<Fd>& by_cpu) {
  for (unsigned cpu = 0; cpu < by_cpu.size(); ++cpu)
    if (auto saved = store_.save(name_of_ring(session, cpu), by_cpu[cpu].get()); !saved) {
      forget_rings(session, cpu);
      return saved;
    }
  return ok();
}

void Saver::forget_rings(uint32_t session, unsigned cpus) {
  for (unsigned cpu = 0; cpu < cpus; ++cpu) store_.forget(name_of_ring(session, cpu));
}

Result<uint32_t> Saver::save_object(const ObjectPtr& object) {
  if (const auto known = objects_.find(object); known != objects_.end()) return known->second;
  if (auto saved = store_.save(name_of_object(last_object_ + 1), object->fd()); !saved)
    return saved.error();
  return objects_[object] = ++last_object_;
}

Status Saver::save_state(const EngineState& state) {
  auto file =
      file_in_memory("tracectl-engine", encode(state), "write the state that outlives the daemon");
  if (!file) return file.error();
  states_.reserve(states_.size() + 1);
  auto saved = store_.save_state(name_of_state(last_state_ + 1), file->get());
  if (!saved) return saved;
  states_.push_back(++last_state_);
  objects_of_last_.clear();
  for (const ObjectState& object : state.objects) objects_of_last_.insert(object.number);
  return ok();
}

void Saver::forget_but(const std::set<uint32_t>& links) {
  for (; states_.size() > 1; states_.erase(states_.begin()))
    store_.forget(name_of_state(states_.front()));
  if (std::erase_if(links_, [&](uint32_t link) {
        if (links.contains(link)) return false;
        forget_link(link);
        return true;
      }))
    waiting_.run([this] { store_.wait_until_forgotten(); });
  for (auto at = objects_.begin(); at != objects_.end();) {
    if (objects_of_last_.contains(at->second)) {
      ++at;
      continue;
    }
    store_.forget(name_of_object(at->second));
    at = objects_.erase(at);
  }
}

}  // namespace tracectl
