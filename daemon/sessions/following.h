// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "daemon/base/result.h"
#include "daemon/finding/resolver.h"
#include "daemon/sessions/commits.h"
#include "daemon/sessions/sessions.h"

namespace tracectl {

// The files into which a session has followed programs.
struct FollowSummary {
  std::string session;
  std::vector<Followed> files;
  Status done;  // or why the executed files could not be armed
};

// Arms, by commits, the files of which Awaiting has learned.
class Following {
 public:
  // All are borrowed.
  Following(Resolver& resolver, Sessions& sessions, Commits& commits)
      : resolver_(resolver), sessions_(sessions), commits_(commits) {}

  // When to call follow() even without notices, since boot. 0 if there is nothing to look at.
  uint64_t next_ns() const;
  // Returns the sessions where there was something to do. If the resolver's reading().awaited() has a file, call it
  // again when that is read.
  std::vector<FollowSummary> follow();
  // Gives the settings in force that chose exactly these containers by name the cgroups that were found for them, and
  // leaves out what is refused. Code::busy if the session has a draft, Code::not_found if no setting chose them.
  Result<CommitSummary> join(const std::string& session, const NamedContainers& containers);

 private:
  std::optional<FollowSummary> follow(Session& session);

  Resolver& resolver_;
  Sessions& sessions_;
  Commits& commits_;
};

}  // namespace tracectl
