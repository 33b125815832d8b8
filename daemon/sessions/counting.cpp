// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/sessions/counting.h"

#include <utility>

#include "daemon/sessions/stack_rows.h"
#include "daemon/switching/latencies.h"
#include "daemon/switching/results.h"

namespace tracectl {

Result<ReadSummary> Counting::read(const std::string& name, bool clear) {
  auto session = sessions_.find(name);
  if (!session) return session.error();
  auto read = clear ? read_and_clear(**session) : read_so_far(**session);
  if (!read) return read;
  name_cgroups(read->results.rows, cgroup_names_);
  name_stacks(read->results.rows, symbolizer_, (*session)->access.owner);
  return read;
}

Result<ReadSummary> Counting::read_so_far(const Session& session) {
  std::optional<Result<Results>> results;
  kernel_.long_work().run([&] { results = current_results(kernel_.counters(), session); });
  if (!*results) return results->error();
  return ReadSummary{std::move(**results), kernel_.switching().epoch(), std::nullopt};
}

// Counts from before the switch are in the answer, those from after it in the next answer.
Result<ReadSummary> Counting::read_and_clear(Session& session) {
  Switch change = switches_.begin();
  if (auto planned = change.commit_of(session).plan_fresh_counters(session.paused); !planned)
    return planned.error();
  if (auto built = switches_.build(change); !built) return built.error();
  const uint64_t epoch = switches_.activate(change);
  Results next{.latencies = carried_over(session.past.latencies)};
  ReadSummary read{std::exchange(session.past, std::move(next)), epoch, change.take_figures()};
  saving_.save_past();
  return read;
}

Result<SwitchSummary> Counting::restart(const std::string& name) {
  auto session = sessions_.find(name);
  if (!session) return session.error();
  Switch change = switches_.begin();
  if (auto planned = change.commit_of(**session).plan_fresh_counters(false); !planned)
    return planned.error();
  if (auto built = switches_.build(change); !built) return built.error();
  kernel_.sessions().set_gate((*session)->id, true);
  if ((*session)->marks) kernel_.sessions().begin_marks((*session)->id);
  const uint64_t epoch = switches_.activate(change);
  (*session)->past = {.latencies = carried_over((*session)->past.latencies)};
  saving_.save_past();
  return SwitchSummary{epoch, 1, (*session)->hooks.size(), change.take_figures()};
}

Totals Counting::totals(const Session& session) const {
  return current_totals(kernel_.counters(), session);
}

}  // namespace tracectl
