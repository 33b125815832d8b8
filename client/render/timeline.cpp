// SPDX-License-Identifier: BSD-2-Clause
#include "client/render/timeline.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <string_view>

#include "client/render/call_names.h"
#include "client/render/table.h"
#include "client/render/text.h"

namespace tracectl {

using protocol::ThreadTimePart;
using protocol::TimelinePart;

size_t Timeline::part_of(uint64_t ts_ns) const {
  if (ts_ns <= first_ns_ || last_ns_ <= first_ns_) return 0;
  // In floating point: with integers, recordings of years would overflow.
  const double share =
      static_cast<double>(ts_ns - first_ns_) / static_cast<double>(last_ns_ - first_ns_);
  return std::min(static_cast<size_t>(share * kParts), kParts - 1);
}

void Timeline::add(const StreamItem& item) {
  if (const auto* lost = std::get_if<Lost>(&item)) {
    lost_[part_of(lost->ts_ns)] += lost->count;
    return;
  }
  const Event& event = std::get<Event>(item);
  std::pair<pid_t, pid_t> key{event.pid, event.tid};
  if (threads_.size() >= kMostThreads && !threads_.contains(key)) key = {0, 0};
  Thread& thread = threads_[key];
  if (thread.comm != event.comm) thread.comm = key.second ? event.comm : "[others]";
  ++thread.counts[part_of(event.ts_ns)];
}

TimelinePart Timeline::part() const {
  TimelinePart part{.first = first_ns_, .last = last_ns_, .threads = {}, .lost = {}};
  for (const auto& [key, thread] : threads_)
    part.threads.push_back(
        {.pid = static_cast<uint64_t>(key.first),
         .tid = static_cast<uint64_t>(key.second),
         .comm = thread.comm,
         .events = std::accumulate(thread.counts.begin(), thread.counts.end(), uint64_t{0}),
         .counts = {thread.counts.begin(), thread.counts.end()}});
  std::stable_sort(
      part.threads.begin(), part.threads.end(),
      [](const ThreadTimePart& a, const ThreadTimePart& b) { return a.events > b.events; });
  part.lost = {lost_.begin(), lost_.end()};
  return part;
}

namespace {

// Nothing is a blank, anything more at least a point.
std::string shades_of(const std::vector<uint64_t>& counts, uint64_t most) {
  constexpr std::string_view kShades = ".:-=+*#%@";
  std::string text;
  for (const uint64_t count : counts) {
    const double share = most ? static_cast<double>(count) / static_cast<double>(most) : 0;
    const auto shade = static_cast<size_t>(share * kShades.size());
    text += count ? kShades[std::min(shade, kShades.size() - 1)] : ' ';
  }
  return text;
}

uint64_t most_of(const std::vector<uint64_t>& counts) {
  return counts.empty() ? 0 : *std::max_element(counts.begin(), counts.end());
}

}  // namespace

std::string timeline_text(const TimelinePart& timeline, size_t most_rows) {
  uint64_t most = 0, lost = 0;
  for (const ThreadTimePart& thread : timeline.threads)
    most = std::max(most, most_of(thread.counts));
  for (const uint64_t count : timeline.lost) lost += count;
  Table table({{"PID", Table::Align::right},
               {"TID", Table::Align::right},
               {"COMMAND"},
               {"EVENTS", Table::Align::right},
               {"WHEN"}});
  const size_t rows = std::min(most_rows, timeline.threads.size());
  for (size_t i = 0; i < rows; ++i) {
    const ThreadTimePart& thread = timeline.threads[i];
    table.add({std::to_string(thread.pid), std::to_string(thread.tid), printable(thread.comm),
               std::to_string(thread.events), "|" + shades_of(thread.counts, most) + "|"});
  }
  if (lost)
    table.add({"", "", "lost", std::to_string(lost),
               "|" + shades_of(timeline.lost, most_of(timeline.lost)) + "|"});
  std::string text = table.text();
  if (rows < timeline.threads.size()) text += more_rows_text(timeline.threads.size() - rows, rows);
  const size_t parts = std::max<size_t>(1, timeline.lost.size());
  text +=
      fmt::format("{} in all, {} a letter, {} where it is darkest\n",
                  duration_text(timeline.last - timeline.first),
                  duration_text((timeline.last - timeline.first) / parts), plural(most, "event"));
  return text;
}

}  // namespace tracectl
