// SPDX-License-Identifier: BSD-2-Clause
#include "client/render/top.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "client/render/call_names.h"
#include "client/render/probe_names.h"
#include "client/render/table.h"
#include "client/render/text.h"

namespace tracectl {

using namespace protocol;

namespace {

using Armed = std::tuple<std::string_view, std::string_view, int64_t>;  // probe, session, process

Armed armed_of(const ProbeTotalsPart& part) {
  return {part.probe, part.session, part.pid.value_or(0)};
}

// Counters that decreased have been reset.
uint64_t grown(uint64_t before, uint64_t now) { return now < before ? now : now - before; }

TopRowPart row_of(const ProbeTotalsPart& before, const ProbeTotalsPart& now, double seconds) {
  const auto rate = [&](uint64_t grown) { return static_cast<double>(grown) / seconds; };
  return {.probe = now.probe,
          .demangled = demangled_function(now.probe),
          .session = now.session,
          .pid = now.pid,
          .cost = now.cost,
          .hits_per_second = rate(grown(before.hits, now.hits)),
          .lost_per_second = rate(grown(before.lost, now.lost)),
          .percent = 100 * rate(grown(before.cost_ns, now.cost_ns)) / 1e9,
          .hits = now.hits};
}

bool dearer(const TopRowPart& a, const TopRowPart& b) {
  return std::tie(b.percent, b.hits_per_second, b.hits, a.probe, a.session, a.pid) <
         std::tie(a.percent, a.hits_per_second, a.hits, b.probe, b.session, b.pid);
}

std::string where_text(const TopRowPart& row) {
  if (!row.pid) return "*";
  return std::to_string(*row.pid) + (row.comm ? " " + printable(*row.comm) : "");
}

std::string sum_text(const TopTablePart& table) {
  double hits = 0, lost = 0, percent = 0;
  for (const TopRowPart& row : table.rows) {
    hits += row.hits_per_second;
    lost += row.lost_per_second;
    percent += row.percent;
  }
  return fmt::format("{}, {:.0f} hits/s, {:.0f} lost/s, by estimate {:.1f} % of a CPU\n",
                     plural(table.rows.size(), "armed probe"), hits, lost, percent);
}

}  // namespace

TopTablePart top_table(const TopReply& before, const TopReply& now) {
  TopTablePart table{
      .ts = now.ts, .seconds = static_cast<double>(now.ts - before.ts) / 1e9, .rows = {}};
  std::map<Armed, const ProbeTotalsPart*> known;
  for (const ProbeTotalsPart& part : before.probes) known[armed_of(part)] = &part;
  for (const ProbeTotalsPart& part : now.probes) {
    const auto found = known.find(armed_of(part));
    table.rows.push_back(
        row_of(found == known.end() ? ProbeTotalsPart{} : *found->second, part, table.seconds));
  }
  std::sort(table.rows.begin(), table.rows.end(), dearer);
  return table;
}

std::string top_text(const TopTablePart& table, size_t rows) {
  using enum Table::Align;
  Table text({{"HITS/S", right},
              {"CPU %", right},
              {"LOST/S", right},
              {"HITS", right},
              {"CLASS"},
              {"PROCESS"},
              {"SESSION"},
              {"PROBE", left, true}});
  const TableNames names = names_of_all(table.rows);
  for (const TopRowPart& row : table.rows) {
    if (rows-- == 0) break;
    text.add({fmt::format("{:.0f}", row.hits_per_second), fmt::format("{:.2f}", row.percent),
              fmt::format("{:.0f}", row.lost_per_second), std::to_string(row.hits), row.cost,
              where_text(row), row.session, names.of(row.probe)});
  }
  return sum_text(table) + (table.rows.empty() ? "" : text.text());
}

}  // namespace tracectl
