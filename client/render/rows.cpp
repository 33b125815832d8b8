// SPDX-License-Identifier: BSD-2-Clause
#include "client/render/rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <set>
#include <tuple>
#include <vector>

#include "client/render/histogram.h"
#include "client/render/latencies.h"
#include "client/render/probe_names.h"
#include "client/render/probe_share.h"
#include "client/render/quantiles.h"
#include "client/render/row_order.h"
#include "client/render/table.h"
#include "client/render/text.h"
#include "daemon/model/expr.h"
#include "daemon/protocol/stacks.h"

namespace tracectl {
namespace {

using namespace protocol;
using Align = Table::Align;

// Rows with the same columns.
struct RowKind {
  bool time = false;
  bool histogram = false;
  bool stack = false, caller = false;
  std::string of;
  std::vector<std::string> keys;

  auto operator<=>(const RowKind&) const = default;
};

using Group = std::vector<const RowPart*>;

// With more histograms of times only the table is shown; --json has all.
constexpr size_t kMostTimesDrawn = 3;

RowKind kind_of(const RowPart& row) {
  RowKind kind{.time = is_of_times(row),
               .histogram = row.hist.has_value(),
               .stack = row.stack.has_value(),
               .caller = row.caller.has_value(),
               .of = row.of.value_or(""),
               .keys = {}};
  if (row.by)
    for (const auto& [name, key] : *row.by) kind.keys.push_back(name);
  return kind;
}

bool is_empty(const RowPart& row) { return row.count == 0 && !row.unread && !row.unwound; }

std::map<RowKind, Group> groups_of(const std::vector<RowPart>& rows) {
  std::map<RowKind, Group> groups;
  for (const RowPart& row : rows)
    if (!is_empty(row)) groups[kind_of(row)].push_back(&row);
  return groups;
}

// ---- keys ----

std::string text_of(std::monostate) { return "?"; }
std::string text_of(const std::string& text) { return quoted_text(text); }
template <std::integral T> std::string text_of(T number) { return std::to_string(number); }
std::string text_of(double number) { return fmt::format("{:.2f}", number); }
template <class... T> std::string text_of(const std::variant<T...>& value) {
  return std::visit([](const auto& held) { return text_of(held); }, value);
}
template <class T> std::string text_of(const std::optional<T>& value) {
  return value ? text_of(*value) : "";
}

// A single word becomes a title in capitals; an expression stays as written.
std::string title_of(std::string name) {
  const auto is_word = [](unsigned char c) { return std::isalnum(c); };
  if (!std::all_of(name.begin(), name.end(), is_word)) return name;
  for (char& c : name) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return name;
}

Table::Column key_column(const std::string& name, const Group& rows) {
  const bool text = std::any_of(rows.begin(), rows.end(), [&](const RowPart* row) {
    return std::holds_alternative<std::string>(row->by->at(name));
  });
  return {title_of(name), text ? Align::left : Align::right};
}

// Stacks are printed below the tables, which refer to their numbers.
class Stacks {
 public:
  std::string number_of(const RowPart& row) {
    const auto stack = stack_of(row.stack, row.stack_by, row.stack_end);
    if (!stack || !*stack) return "?";
    const auto [known, is_new] = numbers_.try_emplace(stack_text(**stack), numbers_.size() + 1);
    if (is_new) text_ += fmt::format("\n#{}\n{}", known->second, known->first);
    return fmt::format("#{}", known->second);
  }

  const std::string& text() const { return text_; }

 private:
  std::map<std::string, size_t> numbers_;  // by their text
  std::string text_;
};

// ---- tables ----

struct ValueColumn {
  const char* title;
  std::string (*cell)(const RowPart& row);
  bool (*is_in)(const RowPart& row);
};

constexpr ValueColumn kValueColumns[] = {
    {"COUNT", [](const RowPart& row) { return std::to_string(row.count); },
     [](const RowPart&) { return true; }},
    {"SUM", [](const RowPart& row) { return text_of(row.sum); },
     [](const RowPart& row) { return row.sum.has_value(); }},
    {"AVG", [](const RowPart& row) { return text_of(row.avg); },
     [](const RowPart& row) { return row.avg.has_value(); }},
    {"MIN", [](const RowPart& row) { return text_of(row.min); },
     [](const RowPart& row) { return row.min.has_value(); }},
    {"MAX", [](const RowPart& row) { return text_of(row.max); },
     [](const RowPart& row) { return row.max.has_value(); }},
};

std::string duration_of(const std::optional<Integer>& ns) {
  const auto known = ns_of(ns);
  return known ? duration_text(*known) : "";
}

std::string average_of(const RowPart& row) {
  const auto total = ns_of(row.sum);
  return row.count && total ? duration_text(*total / row.count) : "";
}

// Buckets say only that it is no more.
template <unsigned kPercent> std::string quantile_of(const RowPart& row) {
  const auto bound = quantile_bound(row, kPercent);
  return bound ? "<=" + duration_text(*bound) : "";
}

bool always(const RowPart&) { return true; }
bool has_buckets(const RowPart& row) { return row.hist.has_value(); }
bool is_of_calls(const RowPart& row) { return row.self.has_value(); }
bool is_latency(const RowPart& row) { return !is_of_calls(row); }

std::string probe_share_of(const RowPart& row) {
  return probe_share_text(row.probes.value_or(0), ns_of(row.sum).value_or(0));
}

bool is_split(const RowPart& row) { return row.running.has_value(); }

// Of no call the parts may be known.
template <std::optional<uint64_t> RowPart::*kPart> std::string part_of(const RowPart& row) {
  if (!(row.*kPart) || row.unsplit == row.count) return "?";
  return duration_text(*(row.*kPart));
}

bool is_mostly_of_probes(const RowPart& row) {
  return is_mostly_probes(row.probes.value_or(0), ns_of(row.sum).value_or(0));
}

constexpr ValueColumn kTimeColumns[] = {
    {"CALLS", [](const RowPart& row) { return std::to_string(row.count); }, is_of_calls},
    {"COUNT", [](const RowPart& row) { return std::to_string(row.count); }, is_latency},
    {"TOTAL", [](const RowPart& row) { return duration_of(row.sum); }, always},
    {"SELF", [](const RowPart& row) { return duration_text(row.self.value_or(0)); }, is_of_calls},
    {"RUNNING", part_of<&RowPart::running>, is_split},
    {"RUNNABLE", part_of<&RowPart::runnable>, is_split},
    {"BLOCKED", part_of<&RowPart::blocked>, is_split},
    {"UNSPLIT", [](const RowPart& row) { return std::to_string(row.unsplit.value_or(0)); },
     [](const RowPart& row) { return row.unsplit.has_value(); }},
    {"AVG", average_of, always},
    {"MIN", [](const RowPart& row) { return duration_of(row.min); },
     [](const RowPart& row) { return row.min.has_value(); }},
    {"P50", quantile_of<50>, has_buckets},
    {"P90", quantile_of<90>, has_buckets},
    {"P99", quantile_of<99>, has_buckets},
    {"MAX", [](const RowPart& row) { return duration_of(row.max); },
     [](const RowPart& row) { return row.max.has_value(); }},
    {"PROBES", probe_share_of, is_mostly_of_probes},
};

// Calls, or hits, that ended without a return.
constexpr ValueColumn kUnwoundColumn = {
    "UNWOUND", [](const RowPart& row) { return std::to_string(row.unwound.value_or(0)); },
    [](const RowPart& row) { return row.unwound.has_value(); }};

std::vector<const ValueColumn*> value_columns(const RowKind& kind, const Group& rows) {
  std::vector<const ValueColumn*> candidates, columns;
  if (kind.time)
    for (const ValueColumn& column : kTimeColumns) candidates.push_back(&column);
  else
    for (const ValueColumn& column : kValueColumns) candidates.push_back(&column);
  candidates.push_back(&kUnwoundColumn);
  for (const ValueColumn* candidate : candidates) {
    const ValueColumn& column = *candidate;
    if (std::any_of(rows.begin(), rows.end(), [&](auto* row) { return column.is_in(*row); }))
      columns.push_back(&column);
  }
  return columns;
}

std::vector<std::string> cells_of(const RowPart& row,
                                  const std::vector<const ValueColumn*>& columns,
                                  const TableNames& names, Stacks& stacks) {
  std::vector<std::string> cells;
  if (row.stack) cells.push_back(stacks.number_of(row));
  if (row.caller) cells.push_back(to_string(frame_of(*row.caller)));
  if (row.by)
    for (const auto& [name, key] : *row.by) cells.push_back(text_of(key));
  for (const ValueColumn* column : columns) cells.push_back(column->cell(row));
  cells.push_back(names.of(row.probe));
  return cells;
}

std::string table_text(const RowKind& kind, const Group& rows, const TableNames& names,
                       Stacks& stacks) {
  const auto values = value_columns(kind, rows);
  std::vector<Table::Column> columns;
  if (kind.stack) columns.push_back({"STACK"});
  if (kind.caller) columns.push_back({"CALLER"});
  for (const std::string& name : kind.keys) columns.push_back(key_column(name, rows));
  for (const ValueColumn* value : values) columns.push_back({value->title, Align::right});
  columns.push_back({"PROBE", Align::left, true});
  Table table(std::move(columns));
  for (const RowPart* row : rows) table.add(cells_of(*row, values, names, stacks));
  return (kind.of.empty() || kind.time ? "" : kind.of + ":\n") + table.text();
}

// ---- histograms ----

std::string heading(const RowPart& row, const TableNames& names, Stacks& stacks) {
  std::string text = row.of.value_or("") + " at " + names.of(row.probe);
  if (row.stack) text += ", stack " + stacks.number_of(row);
  if (row.caller) text += ", called from " + to_string(frame_of(*row.caller));
  if (row.by)
    for (const auto& [name, key] : *row.by) text += ", " + name + " " + text_of(key);
  return text + ":\n";
}

std::string histograms_text(const Group& rows, const TableNames& names, Stacks& stacks) {
  std::string text;
  for (const RowPart* row : rows)
    text += (text.empty() ? "" : "\n") + heading(*row, names, stacks) + histogram_text(*row);
  return text;
}

// ---- what it comes to ----

// Probes whose rows are all empty.
size_t silent_probes(const std::vector<RowPart>& rows) {
  std::set<std::string_view> all, seen;
  for (const RowPart& row : rows) {
    all.insert(row.probe);
    if (!is_empty(row)) seen.insert(row.probe);
  }
  return all.size() - seen.size();
}

uint64_t unread_values(const std::vector<RowPart>& rows) {
  uint64_t unread = 0;
  for (const RowPart& row : rows) unread += row.unread.value_or(0);
  return unread;
}

std::string totals_text(const ReadReply& reply) {
  std::string text = plural(reply.total_hits, "hit");
  if (reply.total_filtered) text += fmt::format(", {} filtered out", reply.total_filtered);
  if (reply.total_silenced)
    text += fmt::format(", {} of silent threads not streamed", reply.total_silenced);
  if (const size_t silent = silent_probes(reply.rows))
    text += ", " + plural(silent, "probe") +
            (reply.total_filtered ? " with no hit taken" : " never hit");
  if (const uint64_t unread = unread_values(reply.rows))
    text += ", " + plural(unread, "value") + " could not be read";
  if (reply.dropped_ring) text += fmt::format(", {} events lost", reply.dropped_ring);
  if (reply.cut) text += fmt::format(", {} calls that could not be followed", reply.cut);
  if (reply.dropped_keys) text += fmt::format(", {} hits without a key", reply.dropped_keys);
  return text + "\n";
}

}  // namespace

std::string key_text(const Key& key) { return text_of(key); }

std::string rows_text(const ReadReply& reply) { return first_rows_text(reply, SIZE_MAX); }

std::string first_rows_text(const ReadReply& reply, size_t most) {
  std::string text;
  Stacks stacks;
  const TableNames names = names_of_all(reply.rows);
  for (const auto& [kind, all] : groups_of(reply.rows)) {
    const Group rows(all.begin(), all.begin() + static_cast<ptrdiff_t>(std::min(most, all.size())));
    if (!text.empty()) text += '\n';
    if (kind.time || !kind.histogram) text += table_text(kind, rows, names, stacks);
    const bool draws = kind.histogram && (!kind.time || rows.size() <= kMostTimesDrawn);
    if (kind.time && draws) text += '\n';
    if (draws) text += histograms_text(rows, names, stacks);
    if (rows.size() < all.size()) text += more_rows_text(all.size() - rows.size(), most);
  }
  if (!stacks.text().empty()) text += stacks.text() + '\n';
  if (reply.latencies) text += (text.empty() ? "" : "\n") + latencies_text(*reply.latencies) + '\n';
  text += totals_text(reply);
  return text;
}

}  // namespace tracectl
