// SPDX-License-Identifier: BSD-2-Clause
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "client/render/call_tree.h"
#include "client/render/table.h"
#include "client/render/text.h"

namespace tracectl {
namespace {

using Align = Table::Align;

constexpr const char* kOthers = "[others]";
constexpr const char* kNone = "-";

std::string time_text(const CallFigures& figures, uint64_t ns) {
  return figures.timed ? duration_text(ns) : kNone;
}

std::string average_text(const CallFigures& figures) {
  return time_text(figures, static_cast<uint64_t>(std::llround(figures.average_ns())));
}

std::string change_text(double ns) {
  const auto size_ns = static_cast<uint64_t>(std::llround(std::abs(ns)));
  return (ns < 0 ? "-" : "+") + duration_text(size_ns);
}

// What the figures of time do not have.
std::string remark_on(const CallFigures& figures) {
  std::string text;
  if (figures.unwound) text += fmt::format("{} unwound", figures.unwound);
  const uint64_t unseen = figures.calls - figures.timed;
  if (unseen) text += fmt::format("{}{} without end", text.empty() ? "" : ", ", unseen);
  return text;
}

double share_of(uint64_t part_ns, uint64_t whole_ns) {
  return whole_ns ? 100.0 * static_cast<double>(part_ns) / static_cast<double>(whole_ns) : 0;
}

void add_row(Table& table, const CallFigures& figures, uint64_t whole_ns,
             const std::string& function) {
  const std::string remark = remark_on(figures);
  table.add({time_text(figures, figures.total_ns), time_text(figures, figures.self_ns),
             std::to_string(figures.calls),
             fmt::format("{:.1f} %", share_of(figures.total_ns, whole_ns)),
             function + (remark.empty() ? "" : "  (" + remark + ")")});
}

// What parts the functions of a line.
std::string folded_name(std::string name) {
  std::replace(name.begin(), name.end(), ';', ':');
  return name;
}

}  // namespace

// ---- by function ----

CallTree::Functions CallTree::functions() const {
  Functions functions;
  gather(functions, root_);
  if (others_.figures.calls) {
    functions[kOthers].figures = others_.figures;
    functions[kOthers].total_ns = others_.figures.total_ns;
  }
  return functions;
}

void CallTree::gather(Functions& functions, const Node& node) {
  for (const auto& [name, child] : node.children) {
    Function& function = functions[name];
    function.figures.add(child->figures);
    if (!function.around) function.total_ns += child->figures.total_ns;
    ++function.around;
    gather(functions, *child);
    --function.around;
  }
}

std::string CallTree::function_table() const {
  const Functions functions = this->functions();
  std::vector<const Functions::value_type*> order;
  for (const auto& one : functions)
    if (one.second.figures.calls) order.push_back(&one);
  std::stable_sort(order.begin(), order.end(), [](const auto* a, const auto* b) {
    return a->second.figures.self_ns > b->second.figures.self_ns;
  });
  Table table({{"FUNCTION"},
               {"CALLS", Align::right},
               {"TOTAL", Align::right},
               {"SELF", Align::right},
               {"MIN", Align::right},
               {"AVG", Align::right},
               {"MAX", Align::right},
               {""}});
  for (const auto* one : order) {
    const auto& [name, function] = *one;
    const CallFigures& figures = function.figures;
    table.add({name, std::to_string(figures.calls), time_text(figures, function.total_ns),
               time_text(figures, figures.self_ns), time_text(figures, figures.min_ns),
               average_text(figures), time_text(figures, figures.max_ns), remark_on(figures)});
  }
  return table.text();
}

// ---- the tree ----

// Where the end of a call has not been seen it took at least what those within it did.
uint64_t CallTree::known_ns(const Node& node) {
  uint64_t inner_ns = 0;
  for (const auto& [name, child] : node.children) inner_ns += known_ns(*child);
  return std::max(node.figures.total_ns, inner_ns);
}

void CallTree::add_rows(Table& table, const Node& node, uint64_t whole_ns, size_t depth) {
  for (const Child& child : by_time(node)) {
    const std::string indent(2 * depth, ' ');
    add_row(table, child.node->figures, whole_ns, indent + *child.name);
    add_rows(table, *child.node, whole_ns, depth + 1);
  }
}

std::vector<CallTree::Child> CallTree::by_time(const Node& node) {
  std::vector<Child> children;
  for (const auto& [name, child] : node.children)
    children.push_back({&name, child.get(), known_ns(*child)});
  std::stable_sort(children.begin(), children.end(),
                   [](const Child& a, const Child& b) { return a.known_ns > b.known_ns; });
  return children;
}

std::string CallTree::tree_text() const {
  Table table({{"TOTAL", Align::right},
               {"SELF", Align::right},
               {"CALLS", Align::right},
               {"SHARE", Align::right},
               {"FUNCTION"}});
  const uint64_t whole_ns = known_ns(root_);
  add_rows(table, root_, whole_ns, 0);
  if (others_.figures.calls) add_row(table, others_.figures, whole_ns, kOthers);
  return table.text();
}

// ---- for flame graphs ----

void CallTree::add_folded(std::string& out, const Node& node, const std::string& way) {
  for (const auto& [name, child] : node.children) {
    const std::string line = way + (way.empty() ? "" : ";") + folded_name(name);
    if (child->figures.self_ns) out += fmt::format("{} {}\n", line, child->figures.self_ns);
    add_folded(out, *child, line);
  }
}

std::string CallTree::folded_text() const {
  std::string text;
  add_folded(text, root_, "");
  if (others_.figures.self_ns) text += fmt::format("{} {}\n", kOthers, others_.figures.self_ns);
  return text;
}

// ---- before and after ----

namespace {

struct Change {
  std::string name;
  CallFigures before;
  CallFigures after;

  double self_ns() const {
    return static_cast<double>(after.self_ns) - static_cast<double>(before.self_ns);
  }
  double average_ns() const { return after.average_ns() - before.average_ns(); }
  bool is_of_both() const { return before.timed && after.timed; }
  bool grew_more_than(const Change& other) const {
    return std::pair(self_ns(), average_ns()) > std::pair(other.self_ns(), other.average_ns());
  }
};

std::string calls_text(const CallFigures& figures) {
  return figures.calls ? std::to_string(figures.calls) : kNone;
}

std::string changes_table(const std::vector<Change>& changes) {
  Table table({{"FUNCTION"},
               {"CALLS BEFORE", Align::right},
               {"AFTER", Align::right},
               {"AVG BEFORE", Align::right},
               {"AFTER", Align::right},
               {"CHANGE", Align::right},
               {"SELF BEFORE", Align::right},
               {"AFTER", Align::right},
               {"CHANGE", Align::right}});
  for (const Change& one : changes)
    table.add({one.name, calls_text(one.before), calls_text(one.after), average_text(one.before),
               average_text(one.after), one.is_of_both() ? change_text(one.average_ns()) : kNone,
               time_text(one.before, one.before.self_ns), time_text(one.after, one.after.self_ns),
               change_text(one.self_ns())});
  return table.text();
}

// "new: a, b"; nothing where there are none.
template <class Is>
std::string named(const char* title, const std::vector<Change>& changes, Is is) {
  std::string names;
  for (const Change& one : changes)
    if (is(one)) names += (names.empty() ? "" : ", ") + one.name;
  return names.empty() ? "" : fmt::format("{}: {}\n", title, names);
}

}  // namespace

std::string CallTree::comparison_text(const CallTree& before) const {
  std::map<std::string, Change> by_name;
  for (const auto& [name, function] : before.functions()) by_name[name].before = function.figures;
  for (const auto& [name, function] : functions()) by_name[name].after = function.figures;
  std::vector<Change> changes;
  for (auto& [name, change] : by_name) {
    if (!change.before.calls && !change.after.calls) continue;
    change.name = name;
    changes.push_back(change);
  }
  std::stable_sort(changes.begin(), changes.end(),
                   [](const Change& a, const Change& b) { return a.grew_more_than(b); });
  return changes_table(changes) +
         named("new", changes, [](const Change& one) { return !one.before.calls; }) +
         named("gone", changes, [](const Change& one) { return !one.after.calls; });
}

}  // namespace tracectl
