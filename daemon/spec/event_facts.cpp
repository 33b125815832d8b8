// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/spec/event_facts.h"

#include <algorithm>
#include <string>

#include "daemon/spec/check.h"
#include "daemon/spec/lexer.h"
#include "daemon/spec/names.h"

namespace tracectl {
namespace {

// The type of an event's value, as that of an argument that a site can read.
Argument read(Argument argument) {
  argument.place = Argument::Place::in_register;
  return argument;
}

bool is_argument_of(const Expr& expr, const EventSource& source) {
  return expr.kind == Expr::Kind::operand && expr.operand == Operand::arg &&
         expr.number < source.arguments.size();
}

bool is_recorded_text(const Expr& expr, const EventSource& source) {
  return is_argument_of(expr, source) && source.arguments[expr.number].is_string;
}

bool is_recorded(Operand operand) {
  switch (operand) {
    case Operand::symbol:
    case Operand::uid:
    case Operand::cgroup:
    case Operand::stack_bytes:
    case Operand::container:
    case Operand::unit:
    case Operand::block:
    case Operand::path: return false;
    default: return true;
  }
}

// Why its value is not known, or empty if it is.
std::string why_unknown(const Expr& expr, const EventSource& source) {
  switch (expr.kind) {
    case Expr::Kind::read:
    case Expr::Kind::hex:
      return "a recording has nothing of the program's memory but what was asked for";
    case Expr::Kind::str:
      if (expr.children.size() == 1 && is_recorded_text(expr.children[0], source)) return "";
      return "this text was not recorded: event(" + to_string(expr) + ") records it";
    case Expr::Kind::operand: break;
    default: return "";
  }
  if (!is_recorded(expr.operand))
    return std::string(name_of(expr.operand)) + " is not recorded with events";
  if (expr.operand == Operand::arg && expr.number >= source.arguments.size())
    return "its events have " + std::to_string(source.arguments.size()) + " values";
  if (is_recorded_text(expr, source))
    return "this is a text: str(" + to_string(expr) + ") compares it";
  return "";
}

Status check_known(const Expr& expr, const Expr& whole, const EventSource& source) {
  if (const std::string why = why_unknown(expr, source); !why.empty())
    return error_at(to_string(whole), column_of(expr, whole), why);
  if (expr.kind == Expr::Kind::str) return ok();  // its argument was checked to be a text
  for (const Expr& child : expr.children)
    if (auto known = check_known(child, whole, source); !known) return known;
  return ok();
}

Status check_against(const Spec& spec, const EventSource& source, const Arguments& arguments) {
  const auto check = [&](const Expr& expr, auto check_type) -> Status {
    auto type = check_type(expr, CheckAgainst{.text = {}, .arguments = &arguments});
    return type ? check_known(expr, expr, source) : type.error();
  };
  if (spec.when)
    if (auto fine = check(*spec.when, check_integer); !fine) return fine;
  for (const Aggregate& aggregate : spec.aggregates) {
    if (aggregate.value)
      if (auto fine = check(*aggregate.value, check_integer); !fine) return fine;
    for (const Expr& key : aggregate.by)
      if (auto fine = check(key, check_key); !fine) return fine;
  }
  return ok();
}

int64_t extended(uint64_t bits, unsigned size_bytes, bool is_signed) {
  const unsigned unused_bits = 64 - 8 * size_bytes;
  const uint64_t shifted = bits << unused_bits;
  return is_signed ? static_cast<int64_t>(shifted) >> unused_bits
                   : static_cast<int64_t>(shifted >> unused_bits);
}

Number number_of(const Argument& type, uint64_t bits) {
  const bool is_u64 = type.size_bytes == sizeof(uint64_t) && !type.is_signed;
  return wrapped(extended(bits, type.size_bytes, type.is_signed), is_u64);
}

Number unsigned_number(uint64_t bits) { return {Wide{bits}, true}; }

}  // namespace

Arguments read_arguments(const EventSource& source) {
  Arguments arguments;
  for (const Argument& argument : source.arguments) arguments.push_back(read(argument));
  return arguments;
}

Result<Spec> for_source(const Spec& spec, const EventSource& source) {
  const Arguments arguments = read_arguments(source);
  const Argument result = read(source.result.value_or(Argument{}));
  auto numbered = with_numbers(spec, arguments, source.result ? &result : nullptr);
  if (!numbered) return numbered;
  if (auto fits = check_against(*numbered, source, arguments); !fits) return fits.error();
  return numbered;
}

std::optional<Number> EventFacts::operand(const Expr& expr) const {
  switch (expr.operand) {
    case Operand::arg: return argument(expr.number);
    case Operand::pid: return Number{event_.pid, false};
    case Operand::tid: return Number{event_.tid, false};
    case Operand::cpu: return Number{event_.cpu, false};
    case Operand::ts: return unsigned_number(event_.ts_ns);
    case Operand::duration:
      return event_.duration_ns ? std::optional(unsigned_number(*event_.duration_ns))
                                : std::nullopt;
    case Operand::blocked:
      return event_.off_cpu ? std::optional(unsigned_number(event_.off_cpu->blocked_ns))
                            : std::nullopt;
    case Operand::runnable:
      return event_.off_cpu ? std::optional(unsigned_number(event_.off_cpu->runnable_ns))
                            : std::nullopt;
    case Operand::thrown:
      if (event_.kind != EventKind::returned && event_.kind != EventKind::unwound)
        return std::nullopt;
      return Number{event_.kind == EventKind::unwound, false};
    case Operand::retval:
      if (!event_.retval) return std::nullopt;
      return number_of(type_of_result(*event_.source), *event_.retval);
    default: return std::nullopt;
  }
}

std::optional<Number> EventFacts::argument(size_t index) const {
  if (index >= event_.args.size() || !event_.args[index]) return std::nullopt;
  return number_of(event_.source->arguments[index], *event_.args[index]);
}

std::optional<std::string> EventFacts::string(const Expr& expr) const {
  if (expr.kind == Expr::Kind::operand)
    return expr.operand == Operand::tag ? event_.tag : event_.comm;
  const size_t index = expr.children[0].number;
  if (index >= event_.args.size() || !event_.args[index]) return std::nullopt;
  const uint64_t number = *event_.args[index];
  return number < event_.strings.size() ? std::optional(event_.strings[number]) : std::nullopt;
}

}  // namespace tracectl
