// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/sessions/session_proofs.h"

#include <utility>

namespace tracectl {

void SessionProofs::note_unproven(const tc_notice& notice) {
  for (auto& [name, session] : sessions_)
    if (session.id == notice.session) session.unproven.insert(static_cast<pid_t>(notice.pid));
}

Result<SessionProofs::Proven> SessionProofs::prove(std::span<const int> descriptors,
                                                   const std::string& name) {
  auto session = sessions_.find(name);
  if (!session) return session.error();
  Proven proven{.needed = (*session)->access.owner.has_value(),
                .processes = {},
                .unproven = {},
                .wanted = {}};
  if (proven.needed) {
    const auto seen = proofs_.prove(descriptors, (*session)->id);
    if (!seen) return seen.error();
    for (const ProvenMemory& memory : *seen) proven.processes.push_back(memory.pid);
  }
  proven.unproven = proofs_.unproven((*session)->id);
  proofs_.listen_for_unproven((*session)->id);
  const auto wanted = std::exchange((*session)->unproven, {});
  proven.wanted.assign(wanted.begin(), wanted.end());
  return proven;
}

}  // namespace tracectl
