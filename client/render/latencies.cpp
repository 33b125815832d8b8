// SPDX-License-Identifier: BSD-2-Clause
#include "client/render/latencies.h"

#include <fmt/format.h>

#include "client/render/probe_names.h"
#include "client/render/rows.h"
#include "client/render/table.h"
#include "client/render/text.h"

namespace tracectl {
namespace {

using namespace protocol;
using Align = Table::Align;

std::string counts_text(const LatencyPart& latency) {
  std::string text = fmt::format(
      "{} started, {} matched, {} without an end, {} started again before it; {} without a start",
      latency.started, latency.matched, latency.open, latency.overwritten,
      plural(latency.unmatched, "end"));
  if (latency.unread) text += ", " + plural(latency.unread, "hit") + " whose key could not be read";
  if (latency.dropped) text += ", " + plural(latency.dropped, "hit") + " lost for want of room";
  return text + "\n";
}

std::string slowest_text(const LatencyPart& latency) {
  if (latency.slowest.empty()) return {};
  std::vector<Table::Column> columns{{"SLOWEST", Align::right}};
  for (const auto& [name, key] : latency.slowest.front().by) columns.push_back({name});
  columns.push_back({"FROM TID", Align::right});
  columns.push_back({"TO TID", Align::right});
  columns.push_back({"ENDED", Align::right});
  Table table(std::move(columns));
  for (const SlowPart& slow : latency.slowest) {
    std::vector<std::string> cells{duration_text(slow.duration)};
    for (const auto& [name, key] : slow.by) cells.push_back(key_text(key));
    cells.push_back(std::to_string(slow.from_tid));
    cells.push_back(std::to_string(slow.to_tid));
    cells.push_back(fmt::format("{:.6f} s", static_cast<double>(slow.ended) / 1e9));
    table.add(std::move(cells));
  }
  std::string text = table.text();
  if (latency.unlisted)
    text += plural(latency.unlisted, "time") + " could not be compared with these\n";
  return text;
}

}  // namespace

std::string latencies_text(const std::vector<LatencyPart>& latencies) {
  std::string text;
  for (const LatencyPart& latency : latencies)
    text += fmt::format("{}from {}\nto {}, by {}:\n", text.empty() ? "" : "\n",
                        readable_name(latency.from), readable_name(latency.to), latency.by) +
            counts_text(latency) + slowest_text(latency);
  return text;
}

}  // namespace tracectl
