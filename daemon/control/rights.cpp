// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/control/rights.h"

#include <grp.h>
#include <linux/capability.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "daemon/process/credentials.h"

namespace tracectl {
namespace {

constexpr const char* kPrivilegedGroup = "tracectl";

Result<std::vector<gid_t>> groups_of(int socket) {
  std::vector<gid_t> groups;
  socklen_t bytes = 0;
  // If there are any, fails with ERANGE and sets the number of bytes needed.
  if (::getsockopt(socket, SOL_SOCKET, SO_PEERGROUPS, groups.data(), &bytes) == 0) return groups;
  if (errno != ERANGE) return Error::from_errno("groups of a client");
  groups.resize(bytes / sizeof(gid_t));
  if (::getsockopt(socket, SOL_SOCKET, SO_PEERGROUPS, groups.data(), &bytes) != 0)
    return Error::from_errno("groups of a client");
  return groups;
}

std::optional<gid_t> group_named(const char* name) {
  group entry{};
  group* found = nullptr;
  std::vector<char> text(1 << 14);
  while (::getgrnam_r(name, &entry, text.data(), text.size(), &found) == ERANGE)
    text.resize(text.size() * 2);
  if (!found) return std::nullopt;
  return found->gr_gid;
}

// The kernel lets nobody else trace all processes. If root lacks the capability, as in a container or by a unit's
// CapabilityBoundingSet=, root is a user like others.
bool may_ptrace_all(const PeerIdentity& peer) {
  return peer.uid == 0 && peer.capabilities & (uint64_t{1} << CAP_SYS_PTRACE);
}

bool is_in(const PeerIdentity& peer, gid_t group) {
  return peer.gid == group ||
         std::find(peer.groups.begin(), peer.groups.end(), group) != peer.groups.end();
}

}  // namespace

// The process that made the socket can since have executed another program, and left the socket to a child, which
// must not get the capabilities of that program. Such a program is seen by its ids if it is setuid, and by not being
// dumpable if its file gave it capabilities.
Result<PeerIdentity> identify_peer(int socket) {
  ucred credentials{};
  socklen_t bytes = sizeof(credentials);
  if (::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &credentials, &bytes) != 0)
    return Error::from_errno("credentials of a client");
  PeerIdentity peer;
  peer.uid = credentials.uid;
  peer.gid = credentials.gid;
  peer.pid = credentials.pid;
  auto groups = groups_of(socket);
  if (!groups) return groups.error();
  peer.groups = std::move(*groups);
  auto process = Process::at_other_end(socket);
  if (!process) return process.error();
  const auto more = credentials_of(*process);
  if (!more) return more.error();
  peer.ids_are_one = runs_as(*more, peer.uid, peer.gid);
  if (peer.ids_are_one && more->dumpable) peer.capabilities = more->capabilities;
  peer.user_namespace = more->user_namespace;
  return peer;
}

Result<Privileged> Privileged::of_this_process() {
  struct stat status {};
  if (::stat("/proc/self/ns/user", &status) != 0)
    return Error::from_errno("look at this process's user namespace");
  return Privileged{group_named(kPrivilegedGroup), static_cast<uint32_t>(status.st_ino)};
}

std::optional<Owner> owner_of(const PeerIdentity& peer, const Privileged& privileged) {
  const bool is_trusted =
      may_ptrace_all(peer) || (privileged.group && is_in(peer, *privileged.group));
  if (is_trusted && peer.ids_are_one && peer.user_namespace == privileged.user_namespace)
    return std::nullopt;
  return Owner{peer.uid, peer.gid, peer.capabilities, peer.user_namespace};
}

}  // namespace tracectl
