// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/model/spec.h"

#include <algorithm>
#include <array>
#include <cctype>

namespace tracectl {
namespace {

// In the order of Aggregate::Kind.
constexpr std::array kAggregates =
    std::to_array<std::string_view>({"count", "sum", "avg", "min", "max", "hist", "lhist", "time"});

bool any_waits(const std::vector<Expr>& exprs) {
  return std::any_of(exprs.begin(), exprs.end(),
                     [](const Expr& expr) { return waits_for_return(expr); });
}

template <class IsSought> bool has_keys(const Spec& spec, IsSought is_sought) {
  const auto is_key = [&](const Expr& key) {
    return key.kind == Expr::Kind::operand && is_sought(key.operand);
  };
  return std::any_of(spec.aggregates.begin(), spec.aggregates.end(), [&](const Aggregate& one) {
    return std::any_of(one.by.begin(), one.by.end(), is_key);
  });
}

std::string joined(const std::vector<std::string>& parts) {
  std::string text;
  for (const std::string& part : parts) text += (text.empty() ? "" : ", ") + part;
  return text;
}

std::string list(const std::vector<Expr>& exprs) {
  std::vector<std::string> texts;
  for (const Expr& expr : exprs) texts.push_back(to_string(expr));
  return joined(texts);
}

std::string event_text(const Spec& spec) {
  return spec.values.empty() ? "event" : "event(" + list(spec.values) + ")";
}

// The text, with everything that differs from the default.
std::string stack_text(const StackCapture& stack) {
  std::string inner;
  if (stack.most_frames != kDefaultFrames) inner = std::to_string(stack.most_frames);
  if (stack.by) inner += (inner.empty() ? "" : ", ") + std::string(name_of(*stack.by));
  return inner.empty() ? "stack" : "stack(" + inner + ")";
}

std::string graph_text(const Spec& spec) {
  return spec.graph_depth ? "graph(" + std::to_string(*spec.graph_depth) + ")" : "graph";
}

std::string buckets_text(const Aggregate& lhist) {
  return ", " + std::to_string(lhist.min) + ", " + std::to_string(lhist.max) + ", " +
         std::to_string(lhist.step);
}

bool is_word(std::string_view text) {
  const auto is_letter = [](char c) {
    return c == '_' || std::isalpha(static_cast<unsigned char>(c));
  };
  const auto is_part = [&](char c) { return is_letter(c) || (c >= '0' && c <= '9'); };
  return !text.empty() && is_letter(text.front()) && std::all_of(text.begin(), text.end(), is_part);
}

// The session's name, in quotes if it would not parse as one word.
std::string trigger_text(const Trigger& trigger) {
  const std::string& name = trigger.session;
  return "trigger(" + (is_word(name) ? name : quoted_text(name)) +
         (trigger.speaks ? ")" : ", off)");
}

bool splits(const Expr& expr) {
  if (expr.kind == Expr::Kind::operand &&
      (expr.operand == Operand::blocked || expr.operand == Operand::runnable))
    return true;
  return std::any_of(expr.children.begin(), expr.children.end(), splits);
}

}  // namespace

bool waits_for_return(const Expr& expr) {
  if (expr.kind == Expr::Kind::operand && expr.operand >= Operand::retval) return true;
  return any_waits(expr.children);
}

bool waits_for_return(const Aggregate& aggregate) {
  return aggregate.kind == Aggregate::Kind::time ||
         (aggregate.value && waits_for_return(*aggregate.value)) || any_waits(aggregate.by);
}

bool is_of_blocks(const Aggregate& aggregate) {
  return aggregate.value && aggregate.value->kind == Expr::Kind::operand &&
         aggregate.value->operand == Operand::block;
}

bool splits_durations(const Spec& spec) {
  if (spec.split || (spec.when && splits(*spec.when)) || (spec.keep_if && splits(*spec.keep_if)))
    return true;
  return std::any_of(spec.values.begin(), spec.values.end(), splits) ||
         std::any_of(spec.aggregates.begin(), spec.aggregates.end(),
                     [](const Aggregate& one) { return one.value && splits(*one.value); });
}

bool is_all_at_return(const Spec& spec) { return spec.when && waits_for_return(*spec.when); }

bool is_event_at_return(const Spec& spec) {
  return spec.event && (is_all_at_return(spec) || any_waits(spec.values));
}

bool follows_calls(const Spec& spec) {
  return spec.returns || spec.graph || is_all_at_return(spec) || any_waits(spec.values) ||
         std::any_of(spec.aggregates.begin(), spec.aggregates.end(),
                     [](const Aggregate& one) { return waits_for_return(one); });
}

bool has_events(const Spec& spec) { return spec.event || (spec.graph && spec.aggregates.empty()); }

bool uses_tags(const Expr& expr) {
  if (expr.kind == Expr::Kind::operand && expr.operand == Operand::tag) return true;
  return std::any_of(expr.children.begin(), expr.children.end(),
                     [](const Expr& child) { return uses_tags(child); });
}

bool uses_tags(const Spec& spec) {
  const auto uses = [](const Expr& expr) { return uses_tags(expr); };
  return has_events(spec) || (spec.when && uses_tags(*spec.when)) ||
         std::any_of(spec.aggregates.begin(), spec.aggregates.end(), [&](const Aggregate& one) {
           return std::any_of(one.by.begin(), one.by.end(), uses);
         });
}

bool has_path_keys(const Spec& spec) {
  return has_keys(spec, [](Operand key) { return key == Operand::path; });
}

bool has_stack_keys(const Spec& spec) {
  return has_keys(spec,
                  [](Operand key) { return key == Operand::stack || key == Operand::caller; });
}

std::string_view name_of(Aggregate::Kind kind) { return kAggregates[static_cast<size_t>(kind)]; }

std::optional<Aggregate::Kind> aggregate_named(std::string_view name) {
  const auto at = std::find(kAggregates.begin(), kAggregates.end(), name);
  if (at == kAggregates.end()) return std::nullopt;
  return static_cast<Aggregate::Kind>(at - kAggregates.begin());
}

std::string to_string(const Aggregate& aggregate) {
  std::string text{name_of(aggregate.kind)};
  if (aggregate.value) {
    text += "(" + to_string(*aggregate.value);
    if (aggregate.kind == Aggregate::Kind::lhist) text += buckets_text(aggregate);
    text += ")";
  }
  if (!aggregate.by.empty()) text += " by " + list(aggregate.by);
  return text;
}

std::string to_string(const Spec& spec) {
  std::vector<std::string> actions;
  if (spec.graph) actions.push_back(graph_text(spec));
  if (spec.event) actions.push_back(event_text(spec));
  if (spec.returns) actions.push_back("return");
  if (spec.split) actions.emplace_back("split");
  if (spec.syscalls) actions.emplace_back("syscalls");
  if (spec.stack) actions.push_back(stack_text(*spec.stack));
  if (!spec.sees_callees)
    for (const Aggregate& aggregate : spec.aggregates) actions.push_back(to_string(aggregate));
  if (spec.sample) actions.push_back("sample(" + std::to_string(*spec.sample) + ")");
  if (spec.limit) actions.push_back("limit(" + std::to_string(*spec.limit) + ")");
  if (spec.deepest) actions.emplace_back("deepest");
  if (spec.tag) actions.push_back("tag(" + quoted_text(*spec.tag) + ")");
  if (spec.silent) actions.push_back(*spec.silent ? "silent" : "silent(off)");
  for (const Trigger& trigger : spec.triggers) actions.push_back(trigger_text(trigger));
  if (spec.learns_tags) actions.emplace_back("tags");
  if (spec.sees_callees) actions.emplace_back("callees");
  if (spec.within_graph) actions.emplace_back("within graph");
  return joined(actions);
}

}  // namespace tracectl
