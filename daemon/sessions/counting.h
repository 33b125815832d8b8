// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "daemon/base/result.h"
#include "daemon/sessions/cgroup_rows.h"
#include "daemon/sessions/probe_totals.h"
#include "daemon/sessions/sessions.h"
#include "daemon/sessions/switches.h"
#include "daemon/stream/symbolizer.h"

namespace tracectl {

struct ReadSummary {
  Results results;
  uint64_t epoch = 0;                    // in force when it was read
  std::optional<SwitchFigures> figures;  // of the switch that zeroed what was read
};

// What sessions have counted.
class Counting {
 public:
  // All are borrowed.
  Counting(Kernel& kernel, Symbolizer& symbolizer, Sessions& sessions, Switches& switches,
           Saving& saving)
      : kernel_(kernel),
        symbolizer_(symbolizer),
        sessions_(sessions),
        switches_(switches),
        saving_(saving) {}

  // `clear`: reads and zeroes at the same moment, by a small commit.
  Result<ReadSummary> read(const std::string& session, bool clear);
  // Sets all counters of the session to zero, unmarks all threads, and resumes it.
  Result<SwitchSummary> restart(const std::string& session);

  Totals totals(const Session& session) const;
  std::vector<ProbeTotals> probe_totals(const Session& session) const {
    return tracectl::probe_totals(kernel_.counters(), HitCosts::measured(kernel_.known_hit_costs()),
                                  session);
  }
  // Threads that could not be marked because memory was short.
  uint64_t marks_lost(const Session& session) const {
    return kernel_.sessions().marks_lost(session.id);
  }
  ProcessProofs::Unproven unproven(const Session& session) const {
    return kernel_.proofs().unproven(session.id);
  }

 private:
  Result<ReadSummary> read_so_far(const Session& session);
  Result<ReadSummary> read_and_clear(Session& session);

  Kernel& kernel_;
  Symbolizer& symbolizer_;
  Sessions& sessions_;
  Switches& switches_;
  Saving& saving_;
  CgroupNames cgroup_names_;
};

}  // namespace tracectl
