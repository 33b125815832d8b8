// SPDX-License-Identifier: BSD-2-Clause
//
// The processes that the sessions of users see: a client has proven that the kernel lets it trace them.
#include <utility>

#include "daemon/sessions/engine.h"

namespace tracectl {
Access Engine::access_of(const Session& session, const std::optional<Owner>& owner) {
  return {.owner = owner,
          .files = {},
          .awaits_libraries = options_.awaits_libraries && !owner,
          .is_proven = [this, id = session.id](const Process& process) {
            return kernel_->has_proof(process.pid(), id);
          }};
}

// At most TC_MOST_UNPROVEN_TOLD are reported before prove() takes them. The rest is only counted.
void Engine::note_unproven(const tc_notice& notice) {
  for (auto& [name, session] : sessions_)
    if (session.id == notice.session) session.unproven.insert(static_cast<pid_t>(notice.pid));
}

Result<Engine::Proven> Engine::prove(std::span<const int> descriptors, const std::string& name) {
  auto session = find(name);
  if (!session) return session.error();
  Proven proven{.needed = (*session)->access.owner.has_value(),
                .processes = {},
                .unproven = {},
                .wanted = {}};
  if (proven.needed) {
    const auto seen = kernel_->prove(descriptors, (*session)->id);
    if (!seen) return seen.error();
    for (const ProvenMemory& memory : *seen) proven.processes.push_back(memory.pid);
  }
  proven.unproven = unproven(**session);
  kernel_->hear_of_unproven((*session)->id);
  const auto wanted = std::exchange((*session)->unproven, {});
  proven.wanted.assign(wanted.begin(), wanted.end());
  return proven;
}

}  // namespace tracectl
