// SPDX-License-Identifier: BSD-2-Clause
//
// The identity of a connection's peer, and what it may trace. The kernel checks nothing for a privileged
// tracer: only this, the checks when a process is chosen (process/credentials.h) and those at each hit
// (bpf/access.bpf.h) protect users from each other.
#pragma once

#include <sys/types.h>

#include <optional>
#include <vector>

#include "daemon/base/result.h"
#include "daemon/model/owner.h"

namespace tracectl {

// The kernel recorded this of the process that connected, at that moment; a socket that is passed on keeps it.
// The fields from the process itself, below, are read later.
struct PeerIdentity {
  uid_t uid = 0;
  gid_t gid = 0;
  pid_t pid = 0;              // in this process's namespace; 0 if it is not visible there
  std::vector<gid_t> groups;  // supplementary ones
  // From the process. The permitted ones; none if they may come from a program that it executed since.
  uint64_t capabilities = 0;
  uint32_t user_namespace = 0;
  bool ids_are_one = true;  // the real, effective and saved ids are all those above
};

// Identifies the peer of a connected Unix stream socket. Fails if the peer has ended, because its user namespace
// is unknown then.
Result<PeerIdentity> identify_peer(int socket);

// Peers that may trace every process: root with CAP_SYS_PTRACE, and members of the group `tracectl`. Both only in
// this process's user namespace, because in another one somebody else assigns ids and capabilities.
struct Privileged {
  std::optional<gid_t> group;  // none if there is no such group
  uint32_t user_namespace = 0;

  // Asks the system's databases, which can take long.
  static Result<Privileged> of_this_process();
};

// None if the peer may trace every process. A peer whose ids differ runs a setuid program, or has changed them
// since it connected: it gets the rights of a user without capabilities.
std::optional<Owner> owner_of(const PeerIdentity& peer, const Privileged& privileged);

}  // namespace tracectl
