// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/control/peer.h"

namespace tracectl {
namespace {

// Whether the peer has all rights of the owner.
bool has_rights_of(const Owner& peer, const Owner& owner) {
  return peer.uid == owner.uid && peer.gid == owner.gid &&
         peer.user_namespace == owner.user_namespace && !(owner.capabilities & ~peer.capabilities);
}

}  // namespace

bool may_use(const Peer& peer, const Session& session) {
  if (!peer.owner) return true;
  return session.access.owner && has_rights_of(*peer.owner, *session.access.owner);
}

std::optional<Error> why_not(const Peer& peer, const Sessions& sessions, const std::string& name) {
  const auto session = sessions.find(name);
  if (!session || may_use(peer, **session)) return std::nullopt;
  return Error{Code::denied, "session \"" + name + "\" is another user's", "session"};
}

Result<std::vector<Fd>> take_descriptors(Peer& peer, size_t count, const char* of) {
  if (peer.descriptors.size() < count)
    return Error{Code::invalid, "of " + std::to_string(count) +
                                    (count == 1 ? " file " : " files ") + of + " " +
                                    std::to_string(peer.descriptors.size()) +
                                    " came: send descriptors with the request (SCM_RIGHTS)"};
  std::vector<Fd> files;
  for (; count > 0; --count) {
    files.push_back(std::move(peer.descriptors.front()));
    peer.descriptors.pop_front();
  }
  return files;
}

Result<std::vector<Fd>> take_proofs(Peer& peer, uint64_t proofs) {
  if (proofs > protocol::kMostProofsOfRequest)
    return Error{
        Code::invalid,
        "a request has at most " + std::to_string(protocol::kMostProofsOfRequest) + " proofs",
        "proofs"};
  auto memories = take_descriptors(peer, proofs, "of the memory of processes");
  if (!memories) return in_field(memories.error(), "proofs");
  return memories;
}

}  // namespace tracectl
