// SPDX-License-Identifier: BSD-2-Clause
#include "client/render/call_tree_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "client/render/call_changes.h"
#include "client/render/probe_share.h"
#include "client/render/table.h"
#include "client/render/text.h"

namespace tracectl {
namespace {

using Align = Table::Align;

constexpr const char* kNone = "-";

std::string time_text(const CallFigures& figures, uint64_t ns) {
  return figures.timed ? duration_text(ns) : kNone;
}

// Buckets say only that it is no more.
std::string bound_text(const CallFigures& figures, unsigned percent) {
  const auto bound = figures.bound_ns(percent);
  return bound ? "<=" + duration_text(*bound) : kNone;
}

std::string average_text(const CallFigures& figures) {
  return time_text(figures, static_cast<uint64_t>(std::llround(figures.average_ns())));
}

// Remarks on calls that the times do not show or include.
std::string remark_on(const CallFigures& figures) {
  std::string text;
  if (figures.unwound) text += fmt::format("{} unwound", figures.unwound);
  if (const uint64_t unseen = figures.without_end())
    text += fmt::format("{}{} without end", text.empty() ? "" : ", ", unseen);
  if (figures.split && figures.split < figures.timed)
    text += fmt::format("{}{} not split", text.empty() ? "" : ", ", figures.timed - figures.split);
  return text;
}

// Cuts all but the first `rows`, and returns a line about the others.
template <class Row> std::string cut(std::vector<Row>& all, size_t rows) {
  if (all.size() <= rows) return "";
  const size_t more = all.size() - rows;
  all.erase(all.end() - static_cast<std::ptrdiff_t>(more), all.end());
  return more_rows_text(more, rows);
}

bool any_is_split(const std::vector<CallTree::Function>& functions) {
  return std::any_of(functions.begin(), functions.end(),
                     [](const CallTree::Function& function) { return function.figures.split > 0; });
}

// The parts of calls that are nested in others of the function cannot be told from those of the outer ones.
std::string part_text(const CallFigures& figures, uint64_t total_ns, uint64_t part_ns) {
  return figures.split && total_ns == figures.total_ns ? duration_text(part_ns) : "?";
}

bool any_is_mostly_probes(const std::vector<CallTree::Function>& functions) {
  return std::any_of(functions.begin(), functions.end(), [](const CallTree::Function& function) {
    return is_mostly_probes(function.figures.probes_ns, function.figures.total_ns);
  });
}

}  // namespace

// ---- by function ----

std::string function_table(const CallTree& calls, size_t rows) {
  std::vector<CallTree::Function> functions = calls.functions();
  const std::string more = cut(functions, rows);
  const bool shows_probes = any_is_mostly_probes(functions);
  std::vector<Table::Column> columns{
      {"FUNCTION"},           {"CALLS", Align::right}, {"TOTAL", Align::right},
      {"SELF", Align::right}, {"AVG", Align::right},   {"MIN", Align::right},
      {"P50", Align::right},  {"P90", Align::right},   {"P99", Align::right},
      {"MAX", Align::right}};
  if (shows_probes) columns.push_back({"PROBES", Align::right});
  const bool shows_parts = any_is_split(functions);
  if (shows_parts)
    for (const char* title : {"RUNNING", "RUNNABLE", "BLOCKED"})
      columns.push_back({title, Align::right});
  columns.push_back({""});
  Table table(std::move(columns));
  for (const auto& [name, figures, total_ns] : functions) {
    std::vector<std::string> cells{name,
                                   std::to_string(figures.calls),
                                   time_text(figures, total_ns),
                                   time_text(figures, figures.self_ns),
                                   average_text(figures),
                                   time_text(figures, figures.min_ns),
                                   bound_text(figures, 50),
                                   bound_text(figures, 90),
                                   bound_text(figures, 99),
                                   time_text(figures, figures.max_ns)};
    if (shows_probes) cells.push_back(probe_share_text(figures.probes_ns, figures.total_ns));
    if (shows_parts)
      for (const uint64_t part_ns : {figures.running_ns, figures.runnable_ns, figures.blocked_ns})
        cells.push_back(part_text(figures, total_ns, part_ns));
    cells.push_back(remark_on(figures));
    table.add(std::move(cells));
  }
  return table.text() + more;
}

// ---- the tree ----

namespace {

constexpr size_t kMostIndented = 64;

// Without a bound, the lines of deep calls would consist mostly of blanks.
std::string indent_text(size_t depth) {
  const std::string blanks(2 * std::min(depth, kMostIndented), ' ');
  return depth < kMostIndented ? blanks : fmt::format("{}[{}] ", blanks, depth);
}

double share_of(uint64_t part_ns, uint64_t whole_ns) {
  return whole_ns ? 100.0 * static_cast<double>(part_ns) / static_cast<double>(whole_ns) : 0;
}

uint64_t whole_ns(const std::vector<CallTree::Place>& places) {
  uint64_t sum_ns = 0;
  for (const CallTree::Place& place : places)
    if (place.depth == 0) sum_ns += place.known_ns;
  return sum_ns;
}

void add_row(Table& table, const CallTree::Place& place, uint64_t whole_ns) {
  const CallFigures& figures = *place.figures;
  const std::string remark = remark_on(figures);
  table.add(
      {time_text(figures, figures.total_ns), time_text(figures, figures.self_ns),
       std::to_string(figures.calls), fmt::format("{:.1f} %", share_of(figures.total_ns, whole_ns)),
       indent_text(place.depth) + *place.name + (remark.empty() ? "" : "  (" + remark + ")")});
}

}  // namespace

std::string tree_text(const CallTree& calls, size_t rows) {
  std::vector<CallTree::Place> places = calls.places(CallTree::Order::time);
  const uint64_t whole = whole_ns(places);
  const std::string more = cut(places, rows);
  Table table({{"TOTAL", Align::right},
               {"SELF", Align::right},
               {"CALLS", Align::right},
               {"SHARE", Align::right},
               {"FUNCTION"}});
  for (const CallTree::Place& place : places) add_row(table, place, whole);
  return table.text() + more;
}

// ---- for flame graphs ----

namespace {

constexpr const char* kDeeper = "[deeper]";

// A ';' separates the functions of a line.
std::string folded_name(std::string name) {
  std::replace(name.begin(), name.end(), ';', ':');
  return name;
}

// Lines for the calls of a tree, each before those within it.
class FoldedCalls {
 public:
  void add(const CallTree::Place& place) {
    if (place.depth >= kMostLevels) {
      deeper_ns_ += place.figures->self_ns;
      return;
    }
    report_deeper();
    go_to(place.depth);
    way_ += (place.depth ? ";" : "") + folded_name(*place.name);
    report(way_, place.figures->self_ns);
  }
  std::string finish() {
    report_deeper();
    if (others_ns_) text_ += fmt::format("[others] {}\n", others_ns_);
    return std::move(text_);
  }

 private:
  // Each line has all calls around its own, so without a bound the lines could take more memory than any
  // picture is worth.
  static constexpr size_t kMostLevels = 1000;
  static constexpr size_t kMostBytes = 256 << 20;

  // Deeper calls are added under the last chain of callers, which has the greatest depth.
  void report_deeper() { report(way_ + ";" + kDeeper, std::exchange(deeper_ns_, 0)); }
  void go_to(size_t depth) {
    ends_.resize(depth + 1, way_.size());
    way_.resize(ends_[depth]);
  }
  void report(const std::string& way, uint64_t ns) {
    if (!ns) return;
    if (text_.size() + way.size() <= kMostBytes)
      text_ += fmt::format("{} {}\n", way, ns);
    else
      others_ns_ += ns;
  }

  std::string text_;
  std::string way_;
  std::vector<size_t> ends_;  // the length of `way_` before each depth
  uint64_t deeper_ns_ = 0, others_ns_ = 0;
};

}  // namespace

std::string folded_text(const CallTree& calls) {
  FoldedCalls folded;
  for (const CallTree::Place& place : calls.places(CallTree::Order::name)) folded.add(place);
  return folded.finish();
}

// ---- before and after ----

namespace {

std::string change_text(double ns) {
  const auto size_ns = static_cast<uint64_t>(std::llround(std::abs(ns)));
  return (ns < 0 ? "-" : "+") + duration_text(size_ns);
}

std::string calls_text(const CallFigures& figures) {
  return figures.calls ? std::to_string(figures.calls) : kNone;
}

std::string changes_table(const std::vector<CallChange>& changes) {
  Table table({{"FUNCTION"},
               {"CALLS BEFORE", Align::right},
               {"AFTER", Align::right},
               {"AVG BEFORE", Align::right},
               {"AFTER", Align::right},
               {"CHANGE", Align::right},
               {"SELF BEFORE", Align::right},
               {"AFTER", Align::right},
               {"CHANGE", Align::right}});
  for (const CallChange& one : changes) {
    const CallFigures &before = one.before.figures, &after = one.after.figures;
    table.add({one.name, calls_text(before), calls_text(after), average_text(before),
               average_text(after), one.is_of_both() ? change_text(one.average_ns()) : kNone,
               time_text(before, before.self_ns), time_text(after, after.self_ns),
               change_text(one.self_ns())});
  }
  return table.text();
}

// "new: a, b"; empty if there are none.
template <class Is>
std::string named(const char* title, const std::vector<CallChange>& changes, Is is) {
  std::string names;
  for (const CallChange& one : changes)
    if (is(one)) names += (names.empty() ? "" : ", ") + one.name;
  return names.empty() ? "" : fmt::format("{}: {}\n", title, names);
}

}  // namespace

std::string comparison_text(const CallTree& before, const CallTree& after, size_t rows) {
  std::vector<CallChange> changes = changes_of(before, after);
  const auto is_new = [](const CallChange& one) { return !one.before.figures.calls; };
  const auto is_gone = [](const CallChange& one) { return !one.after.figures.calls; };
  const std::string names = named("new", changes, is_new) + named("gone", changes, is_gone);
  const std::string more = cut(changes, rows);
  return changes_table(changes) + more + names;
}

}  // namespace tracectl
