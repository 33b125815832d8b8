// SPDX-License-Identifier: BSD-2-Clause
//
// Who is at the other end of a connection, and what it may trace. The kernel checks nothing for a
// privileged tracer: this, the checks where a process is chosen (process/credentials.h) and those at each
// hit (bpf/access.bpf.h) are what stands between users.
#pragma once

#include <sys/types.h>

#include <optional>
#include <vector>

#include "daemon/base/result.h"
#include "daemon/model/owner.h"

namespace tracectl {

// As the kernel has it of the process that connected, at that moment. A descriptor that is passed on
// keeps it. What is of the process is of when it is looked at, which is later.
struct PeerIdentity {
  uid_t uid = 0;
  gid_t gid = 0;
  pid_t pid = 0;              // in this process's namespace; 0: it cannot be seen from here
  std::vector<gid_t> groups;  // supplementary ones
  // Of the process. Permitted; none where they may be those of a program that it executes since.
  uint64_t capabilities = 0;
  uint32_t user_namespace = 0;
  bool ids_are_one = true;  // real, effective and saved ones: those above
};

// Of a connected Unix stream socket. Fails where the peer has ended already, as nobody can say then in
// which user namespace it was.
Result<PeerIdentity> identify_peer(int socket);

// Who may trace every process: root with CAP_SYS_PTRACE, and whoever is in the group `tracectl`; not from another
// user namespace than this process's, where ids and capabilities are somebody else's to give.
struct Privileged {
  std::optional<gid_t> group;  // none: there is no such group
  uint32_t user_namespace = 0;

  // As it is now. Asks the system's databases, which may take its time.
  static Result<Privileged> of_this_process();
};

// None: the peer may trace every process. One whose ids are not one is a setuid program, or has become
// another since: it has the least right, which is a user's without capabilities.
std::optional<Owner> owner_of(const PeerIdentity& peer, const Privileged& privileged);

}  // namespace tracectl
