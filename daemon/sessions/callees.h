// SPDX-License-Identifier: BSD-2-Clause
//
// Finds the functions by which graphs grow: the targets of calls that no file shows.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "daemon/finding/resolver.h"
#include "daemon/kernel/counters.h"
#include "daemon/switching/session.h"
#include "daemon/switching/slots.h"

namespace tracectl {

// Returns the addresses that hooks in force have counted since the last call of this, and removes them from
// the kernel's table, which everybody's keys share. An address that is called again comes again.
Result<CalledAddresses> take_called_addresses(Counters& counters, const Session& session);

// Finds the functions that are at addresses, each place in a file once for a session.
class CalleeFinder {
 public:
  // A file in which the session has probes goes by its path there.
  CalleeFinder(Resolver& resolver, const Slots& slots, const Session& session);

  // Finds nothing if the process has ended.
  void look_at(pid_t pid, const std::set<uint64_t>& addresses);

  std::vector<Pattern> take_functions() { return std::move(functions_); }
  std::map<CalleePlace, bool> take_seen() { return std::move(seen_); }
  size_t unknown() const { return unknown_; }  // addresses at which no function begins

 private:
  // Whether a function begins there.
  bool look_at(const Process& process, const MappedFile& mapped, uint64_t offset);
  ObjectPtr file_of(const Process& process, const MappedFile& mapped);
  Result<ObjectPtr> open(const Process& process, const MappedFile& mapped);

  Resolver& resolver_;
  const Access& access_;
  std::vector<ObjectPtr> known_;                        // of the session's probes
  std::map<std::pair<dev_t, ino_t>, ObjectPtr> files_;  // null: it cannot be read
  std::map<CalleePlace, bool> seen_;
  std::vector<Pattern> functions_;
  size_t unknown_ = 0;
};

}  // namespace tracectl
