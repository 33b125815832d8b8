// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/spec/names.h"

#include <algorithm>
#include <set>
#include <span>
#include <string_view>
#include <vector>

#include "bpf/abi.h"
#include "daemon/base/nearest.h"
#include "daemon/spec/fields.h"
#include "daemon/spec/lexer.h"

namespace tracectl {
namespace {

bool is_argument(const Expr& expr) {
  return expr.kind == Expr::Kind::operand && expr.operand == Operand::arg;
}

bool is_symbol(const Expr& expr) {
  return expr.kind == Expr::Kind::operand && expr.operand == Operand::symbol;
}

bool is_named_symbol(const Expr& expr) { return is_symbol(expr) && !expr.text.empty(); }

bool uses_arguments(const Expr& expr) {
  return is_argument(expr) || is_symbol(expr) ||
         std::any_of(expr.children.begin(), expr.children.end(),
                     [](const Expr& child) { return uses_arguments(child); });
}

// Calls `on_expr` with each expression of the spec, as Expr& or const Expr& like the spec. May
// modify them.
template <class AnySpec, class OnExpr> void each_expr(AnySpec& spec, OnExpr on_expr) {
  if (spec.when) on_expr(*spec.when);
  if (spec.keep_if) on_expr(*spec.keep_if);
  for (auto& value : spec.values) on_expr(value);
  for (auto& aggregate : spec.aggregates) {
    if (aggregate.value) on_expr(*aggregate.value);
    for (auto& key : aggregate.by) on_expr(key);
  }
}

Error unknown_name(const Expr& part, const Expr& whole, const Arguments& arguments) {
  std::vector<std::string_view> known;
  std::string listed;
  for (const Argument& argument : std::span(arguments).first(count_of_probe(arguments))) {
    if (argument.name.empty()) continue;
    known.push_back(argument.name);
    listed += (listed.empty() ? "" : ", ") + argument.name;
  }
  std::string message = "there is no argument \"" + part.text + "\" here";
  if (known.empty())
    message += ": nothing is known of their names; arg0 is the first";
  else
    message += ": " + listed + did_you_mean(part.text, known);
  return error_at(to_string(whole), column_of(part, whole), std::move(message));
}

bool is_result(const Expr& expr) {
  return expr.kind == Expr::Kind::operand && expr.operand == Operand::retval;
}

Status set_result(Expr& part, const Expr& whole, const Argument* result) {
  static const Argument whole_register{.place = Argument::Place::in_register, .is_signed = true};
  const Argument& type = result ? *result : whole_register;
  const auto fail = [&](std::string message) {
    return error_at(to_string(whole), column_of(part, whole), std::move(message));
  };
  if (!is_readable(type)) return fail("there is no retval here: the function returns " + type.text);
  if (type.kind == Argument::Kind::aggregate)
    return fail("retval is no number: the function returns " + type.declared_type + " " +
                type.text);
  if (type.is_float) return fail("retval is a float (" + type_name(type) + "), not an integer");
  part.number = type.size_bytes | (type.is_signed ? Expr::kSignedResult : 0);
  return ok();
}

// The end of a text that has its length behind it is no 0.
bool reads_past_its_end(const Expr& expr, const Arguments& arguments) {
  const bool has_length = expr.children.size() > 1;
  if (expr.kind != Expr::Kind::str || has_length || !is_argument(expr.children.front()))
    return false;
  const uint64_t index = expr.children.front().number;
  return index < arguments.size() && arguments[index].length_behind;
}

Status number(Expr& part, const Expr& whole, const Arguments& arguments, const Argument* result);

// An argument or a result of which the site says whether it is a text.
bool is_text_by_name(const Expr& expr) {
  return expr.kind == Expr::Kind::operand && may_be_text(expr);
}

// Calls `on_expr` with each part of the expression that is compared with a text.
template <class AnyExpr, class OnExpr> void each_compared(AnyExpr& expr, OnExpr on_expr) {
  if (expr.kind == Expr::Kind::binary)
    for (const size_t side : {0u, 1u})
      if (expr.children[1 - side].kind == Expr::Kind::text) on_expr(expr.children[side]);
  for (auto& child : expr.children) each_compared(child, on_expr);
}

// Calls `on_text(part, whole)` with each part of the spec that may be a text by its name: a value of an event, a key, or
// what is compared with a text.
template <class AnySpec, class OnText> void each_text_by_name(AnySpec& spec, OnText on_text) {
  each_expr(spec, [&](auto& whole) {
    each_compared(whole, [&](auto& part) {
      if (is_text_by_name(part)) on_text(part, whole);
    });
  });
  const auto on_whole = [&](auto& whole) {
    if (is_text_by_name(whole)) on_text(whole, whole);
  };
  for (auto& value : spec.values) on_whole(value);
  for (auto& aggregate : spec.aggregates)
    for (auto& key : aggregate.by) on_whole(key);
}

bool has_enumerator(const Expr& expr) {
  return expr.kind == Expr::Kind::binary && expr.children[1].kind == Expr::Kind::enumerator;
}

Status number_field(Expr& part, const Expr& whole, const Arguments& arguments,
                    const Argument* result) {
  if (auto based = number(part.children[0], whole, arguments, result); !based) return based;
  return resolve_field(part, whole, arguments, result);
}

Status number(Expr& part, const Expr& whole, const Arguments& arguments, const Argument* result) {
  if (is_result(part)) return set_result(part, whole, result);
  if (is_argument(part) && !part.text.empty()) {
    const auto index = index_of(arguments, part.text);
    if (!index) return unknown_name(part, whole, arguments);
    part.number = *index;
  }
  if (part.kind == Expr::Kind::field) return number_field(part, whole, arguments, result);
  if (is_named_symbol(part))
    part.number = index_of_symbol(arguments, part.text).value_or(Expr::kNoSymbol);
  for (Expr& child : part.children)
    if (auto numbered = number(child, whole, arguments, result); !numbered) return numbered;
  if (has_enumerator(part)) return resolve_enumerator(part, whole, arguments, result);
  if (reads_past_its_end(part, arguments))
    return error_at(to_string(whole), column_of(part, whole),
                    "str() reads up to a 0, and this text has its length as the next argument and "
                    "no 0 at its end; an event of all arguments shows it");
  return ok();
}

void list_arguments(const Expr& expr, const Arguments& arguments, std::string& list) {
  if (is_argument(expr) || is_symbol(expr)) {
    list += std::to_string(expr.number);
    if (expr.number < arguments.size()) list += ' ' + type_name(arguments[expr.number]);
    if (expr.number < arguments.size() && !is_readable(arguments[expr.number]))
      list += " unreadable";
    list += ',';
  }
  if (expr.kind == Expr::Kind::field)
    list += to_string(expr.children[0]) + (expr.number ? " float," : ",");
  if (expr.kind == Expr::Kind::enumerator) list += std::to_string(expr.number) + ',';
  if (is_result(expr)) list += "result " + std::to_string(expr.number) + ',';
  for (const Expr& child : expr.children) list_arguments(child, arguments, list);
}

// The part of the description for an event that shows all arguments.
std::string text_arguments(const Arguments& arguments) {
  std::string list;
  for (const Argument& one : std::span(arguments).first(count_of_probe(arguments)))
    list += type_name(one) + (one.is_shown_as_text ? " text " : " ") + one.declared_type + " " +
            one.name + ",";
  return list;
}

template <class IsIt> void list_texts(const Expr& expr, IsIt is_it, std::set<std::string>& texts) {
  if (is_it(expr)) texts.insert(expr.text);
  for (const Expr& child : expr.children) list_texts(child, is_it, texts);
}

// The texts of its expressions of one kind, each once. `sides`: as enum tc_pair_side, those for which the expressions
// are evaluated.
template <class IsIt>
std::vector<std::string> texts_of(const Setting& setting, uint32_t sides, IsIt is_it) {
  std::set<std::string> texts;
  if (sides != TC_PAIR_FROM)
    each_expr(setting.spec, [&](const Expr& expr) { list_texts(expr, is_it, texts); });
  if (setting.latency)
    for (const Expr& key : setting.latency->by) list_texts(key, is_it, texts);
  return {texts.begin(), texts.end()};
}

}  // namespace

Result<std::string> compiled_from(const Spec& spec, const Arguments& arguments,
                                  const Argument* result) {
  auto numbered = with_numbers(spec, arguments, result);
  if (!numbered) return numbered.error();
  std::string list;
  each_expr(*numbered, [&](const Expr& expr) { list_arguments(expr, arguments, list); });
  if (shows_text(spec, arguments)) list += text_arguments(arguments);
  return list;
}

bool uses_arguments(const Spec& spec) {
  bool any = spec.learns_tags || (spec.event && spec.values.empty());
  each_expr(spec, [&](const Expr& expr) { any |= uses_arguments(expr); });
  return any;
}

bool shows_text(const Spec& spec, const Arguments& arguments) {
  const auto is_shown = [](const Argument& one) { return one.is_shown_as_text; };
  const auto is_integer = [](const Argument& one) { return is_readable(one) && !one.is_float; };
  const auto shown = std::span(arguments).first(count_of_probe(arguments));
  return spec.event && spec.values.empty() && std::ranges::any_of(shown, is_shown) &&
         std::ranges::all_of(shown, is_integer);
}

bool keeps_arguments(const Spec& spec) {
  const bool all = is_all_at_return(spec);
  const auto any_uses = [](const std::vector<Expr>& exprs) {
    return std::any_of(exprs.begin(), exprs.end(), [](const Expr& e) { return uses_arguments(e); });
  };
  const auto keeps = [&](const Aggregate& one) {
    return (all || waits_for_return(one)) &&
           ((one.value && uses_arguments(*one.value)) || any_uses(one.by));
  };
  if (spec.keep_if && uses_arguments(*spec.keep_if)) return true;
  if (all && (uses_arguments(*spec.when) || (spec.event && spec.values.empty()))) return true;
  if (is_event_at_return(spec) && any_uses(spec.values)) return true;
  return std::any_of(spec.aggregates.begin(), spec.aggregates.end(), keeps);
}

std::vector<std::string> symbols_of(const Setting& setting, uint32_t sides) {
  return texts_of(setting, sides, is_named_symbol);
}

namespace {

bool is_field(const Expr& expr) { return expr.kind == Expr::Kind::field; }

}  // namespace

std::vector<std::string> field_paths_of(const Setting& setting, uint32_t sides) {
  const auto fields = texts_of(setting, sides, is_field);
  std::set<std::string> paths(fields.begin(), fields.end());
  const auto add = [&](const Expr& part, const Expr&) { paths.insert(to_string(part)); };
  if (sides != TC_PAIR_FROM) each_text_by_name(setting.spec, add);
  if (setting.latency)
    for (const Expr& key : setting.latency->by)
      if (is_text_by_name(key)) add(key, key);
  return {paths.begin(), paths.end()};
}

Status check_field_paths(const Setting& setting) {
  const size_t count = texts_of(setting, 0, is_field).size();
  if (count <= kMostFieldPaths) return ok();
  return Error{Code::invalid, "the expressions name " + std::to_string(count) +
                                  " different fields, and may name " +
                                  std::to_string(kMostFieldPaths) +
                                  ": name fewer, or read others by u8(E) to u64(E)"};
}

Result<Spec> with_numbers(Spec spec, const Arguments& arguments, const Argument* result) {
  Status numbered = ok();
  each_expr(spec, [&](Expr& expr) {
    if (numbered) numbered = number(expr, expr, arguments, result);
  });
  if (!numbered) return numbered.error();
  each_text_by_name(spec, [&](Expr& part, const Expr& whole) {
    if (numbered) numbered = resolve_text(part, whole, arguments, result);
  });
  if (!numbered) return numbered.error();
  return spec;
}

}  // namespace tracectl
