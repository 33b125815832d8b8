// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "daemon/base/result.h"
#include "daemon/finding/resolver.h"
#include "daemon/sessions/gates.h"
#include "daemon/sessions/quotas.h"
#include "daemon/sessions/sessions.h"

namespace tracectl {

struct StageSummary {
  size_t settings = 0, probes = 0, sites = 0;
  std::vector<Refusal> refused;
  std::vector<std::string> notes;
};

// The sessions' drafts. A session without a draft gets one with the settings in force.
class Drafts {
 public:
  // All are borrowed.
  Drafts(Resolver& resolver, Sessions& sessions, const Quotas& quotas, const Gates& gates,
         const Switching& switching)
      : resolver_(resolver),
        sessions_(sessions),
        quotas_(quotas),
        gates_(gates),
        switching_(switching) {}

  // Resolves as the commit will, so that the answer says what the draft covers. A target with births of processes
  // means only processes born then: those that have ended are left out.
  Result<StageSummary> set(const std::string& session, std::vector<Setting> settings);
  // Removes the settings with these patterns, and this target if it is given.
  Result<StageSummary> remove(const std::string& session, const std::vector<Pattern>& patterns,
                              const std::optional<Target>& target);
  Status abort(const std::string& session);

 private:
  Resolver& resolver_;
  Sessions& sessions_;
  const Quotas& quotas_;
  const Gates& gates_;
  const Switching& switching_;
};

}  // namespace tracectl
