// SPDX-License-Identifier: BSD-2-Clause
#include "client/ui/live_screen.h"

#include <fmt/format.h>

#include <algorithm>

#include "client/render/probe_names.h"
#include "client/render/quantiles.h"
#include "client/render/row_order.h"
#include "client/render/text.h"
#include "client/ui/stack_lines.h"

namespace tracectl::ui {

using protocol::RowPart;

namespace {

double as_figure(uint64_t number) { return static_cast<double>(number); }

uint64_t calls_of(const LiveRow& row) { return row.times ? row.times->count : 0; }
uint64_t total_of(const LiveRow& row) { return row.times ? ns_of(row.times->sum).value_or(0) : 0; }
uint64_t longest_of(const LiveRow& row) {
  return row.times ? ns_of(row.times->max).value_or(0) : 0;
}
uint64_t average_of(const LiveRow& row) {
  return calls_of(row) ? total_of(row) / calls_of(row) : 0;
}
template <unsigned kPercent> uint64_t bound_of(const LiveRow& row) {
  return row.times ? quantile_bound(*row.times, kPercent).value_or(0) : 0;
}

template <uint64_t (*of)(const LiveRow&)> double figure_of(const LiveRow& row) {
  return as_figure(of(row));
}
// Without calls there are no times.
template <uint64_t (*of)(const LiveRow&)> std::string time_text(const LiveRow& row) {
  return calls_of(row) ? duration_text(of(row)) : "";
}
// Buckets say only that it is no more.
template <unsigned kPercent> std::string bound_text(const LiveRow& row) {
  return calls_of(row) ? "<=" + duration_text(bound_of<kPercent>(row)) : "";
}
std::string name_text(const LiveRow& row) { return row.name; }

constexpr LiveColumn kCounts[] = {
    {"HITS/S", true, [](const LiveRow& row) { return row.per_second.value_or(0); },
     [](const LiveRow& row) {
       return row.per_second ? fmt::format("{:.0f}", *row.per_second) : std::string();
     }},
    {"HITS", true, [](const LiveRow& row) { return as_figure(row.hits); },
     [](const LiveRow& row) { return std::to_string(row.hits); }},
    {"PROBE", false, nullptr, name_text},
};

constexpr LiveColumn kTimes[] = {
    {"CALLS", true, figure_of<calls_of>,
     [](const LiveRow& row) { return row.times ? std::to_string(calls_of(row)) : std::string(); }},
    {"TOTAL", true, figure_of<total_of>, time_text<total_of>},
    {"AVG", true, figure_of<average_of>, time_text<average_of>},
    {"P50", true, figure_of<bound_of<50>>, bound_text<50>},
    {"P90", true, figure_of<bound_of<90>>, bound_text<90>},
    {"P99", true, figure_of<bound_of<99>>, bound_text<99>},
    {"MAX", true, figure_of<longest_of>, time_text<longest_of>},
    {"PROBE", false, nullptr, name_text},
};

std::vector<LiveRow> live_rows(const std::vector<RowPart>& parts, const Marks& marks) {
  std::map<std::string, LiveRow> by_probe;
  for (const RowPart& part : parts) {
    if (!marks.has(part.probe)) continue;
    LiveRow& row = by_probe[part.probe];
    if (is_of_times(part))
      row.times = part;
    else if (!part.stack)
      row.hits += part.count;
  }
  std::vector<std::string_view> probes;
  for (const auto& [probe, row] : by_probe) probes.emplace_back(probe);
  const TableNames names(probes);
  std::vector<LiveRow> rows;
  for (auto& [probe, row] : by_probe) {
    row.probe = probe;
    row.name = names.of(probe);
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace

std::span<const LiveColumn> LiveScreen::columns() const {
  return view_ == View::times ? std::span<const LiveColumn>(kTimes) : kCounts;
}

std::string LiveScreen::name_of_stacks() const {
  const auto row = std::ranges::find(rows_, stacks_of_, &LiveRow::probe);
  return row == rows_.end() ? stacks_of_ : row->name;
}

void LiveScreen::set(const protocol::ReadReply& read, double at_s, const Marks& marks) {
  const std::string selected =
      place_.selected() < rows_.size() ? rows_[place_.selected()].probe : "";
  rows_ = live_rows(read.rows, marks);
  add_rates(at_s);
  sort();
  const auto again = std::ranges::find(rows_, selected, &LiveRow::probe);
  if (again != rows_.end()) place_.select(static_cast<size_t>(again - rows_.begin()));
  if (!stacks_of_.empty() && !marks.has(stacks_of_)) show(View::counts);
  stack_lines_ = stack_lines_of(read.rows, stacks_of_);
}

// A count that has become less was begun anew.
void LiveScreen::add_rates(double at_s) {
  const double seconds = read_at_s_ ? at_s - *read_at_s_ : 0;
  std::map<std::string, uint64_t> hits;
  for (LiveRow& row : rows_) {
    const auto before = hits_before_.find(row.probe);
    if (seconds > 0 && before != hits_before_.end() && before->second <= row.hits)
      row.per_second = as_figure(row.hits - before->second) / seconds;
    hits[row.probe] = row.hits;
  }
  hits_before_ = std::move(hits);
  read_at_s_ = at_s;
}

void LiveScreen::sort() {
  const auto figure = columns()[sorted_by()].figure;
  std::ranges::stable_sort(rows_, [&](const LiveRow& a, const LiveRow& b) {
    const double of_a = figure ? figure(a) : 0, of_b = figure ? figure(b) : 0;
    return of_a != of_b ? of_a > of_b : a.name < b.name;
  });
}

void LiveScreen::take(Key key) {
  using Kind = Key::Kind;
  if (key.is(U'c')) show(View::counts);
  if (key.is(U't')) show(View::times);
  if (key.is(U'k') || (key.kind == Kind::enter && view_ != View::stacks)) show(View::stacks);
  if (key.kind == Kind::left || key.is(U'<')) move_sideways(false);
  if (key.kind == Kind::right || key.is(U'>')) move_sideways(true);
  place().take(key, view_ == View::stacks ? stack_lines_.size() : rows_.size());
}

void LiveScreen::show(View view) {
  if (view == View::stacks) {
    if (rows_.empty()) return;
    if (view_ != View::stacks) take_stacks_of(place_.selected());
  } else {
    stacks_of_.clear();
  }
  view_ = view;
  if (view != View::stacks) sort();
}

void LiveScreen::take_stacks_of(size_t row) {
  place_.select(row);
  stacks_of_ = rows_[row].probe;
  stack_lines_.clear();
  stack_place_ = {};
}

// To another column by which rows are sorted, or to the stacks of another probe.
void LiveScreen::move_sideways(bool right) {
  const auto moved = [&](size_t from, size_t last) {
    return right ? std::min(from + 1, last) : from - std::min<size_t>(from, 1);
  };
  if (view_ == View::stacks) {
    const size_t next = moved(place_.selected(), rows_.size() - 1);
    if (next != place_.selected()) take_stacks_of(next);
    return;
  }
  size_t& by = view_ == View::times ? times_by_ : counts_by_;
  by = moved(by, columns().size() - 1);
  sort();
}

}  // namespace tracectl::ui
