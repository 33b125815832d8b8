// SPDX-License-Identifier: BSD-2-Clause
//
// Input: the site's arguments, up to the first line feed; the rest is a condition, or keys.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "daemon/spec/compile.h"
#include "daemon/spec/parse.h"

using namespace tracectl;

namespace {

void must(bool promise) {
  if (!promise) std::abort();
}

Argument argument_of(char c) {
  const auto bits = static_cast<unsigned char>(c);
  Argument argument{.place = Argument::Place::in_register};
  if (bits & 16) argument.place = Argument::Place::unreadable;
  argument.size_bytes = static_cast<uint8_t>(1u << (bits & 3));
  argument.is_signed = bits & 4;
  argument.is_float = bits & 8;
  return argument;
}

Arguments arguments_of(std::string_view bytes) {
  Arguments arguments;
  for (char c : bytes.substr(0, TC_MAX_ARGS)) arguments.push_back(argument_of(c));
  return arguments;
}

void check_registers(const tc_insn& insn, const Arguments& arguments) {
  must(insn.op < TC_OPS && insn.a_from < TC_SOURCES && insn.b_from <= TC_FROM_IMMEDIATE);
  must(insn.a_from != TC_FROM_IMMEDIATE || insn.b_from != TC_FROM_IMMEDIATE);
  const bool is_arg = insn.a_from == TC_FROM_ARG || insn.a_from == TC_FROM_ARG_SIGNED;
  must(insn.a < (is_arg ? arguments.size() : size_t{TC_REGISTERS}));
  must(insn.b < TC_REGISTERS);
  must(insn.to < TC_REGISTERS || (compares_text(insn.op) && insn.to <= TC_STR_LEN));
  if (compares_numbers(insn.op)) must(insn.to > 0 && insn.to < (TC_LESS | TC_EQUAL | TC_GREATER));
}

void check_code(const ExprCode& code, const Arguments& arguments) {
  const size_t size = code.insns.size();
  must(size > 0 && size <= TC_MAX_INSNS && code.insns.back().op == TC_OP_RETURN);
  for (size_t i = 0; i < size; i++) {
    const tc_insn& insn = code.insns[i];
    check_registers(insn, arguments);
    must(is_skip(insn.op) ? i + 1 + insn.skip < size : insn.skip == 0);
    if (compares_text(insn.op))
      must(insn.immediate >= 0 && static_cast<size_t>(insn.immediate) < code.texts.size());
  }
  for (const std::string& text : code.texts) must(text.size() <= TC_TEXT_LEN);
  must(cost_bound(code) > 0 && cost_bound(code) <= size);
}

void check_outcome(const Expr& expr, const Result<ExprCode>& code, const Arguments& arguments) {
  if (code) return check_code(*code, arguments);
  must(code.error().spot && code.error().spot->text == to_string(expr));
  must(code.error().spot->column < code.error().spot->text.size());
}

// Keys of all types, also strings and bytes.
void check_keys(std::string_view text, const Arguments& arguments) {
  const auto keys = parse_keys(text);
  if (!keys) return;
  for (const Expr& key : *keys) {
    const auto code = compile_value(key, arguments);
    check_outcome(key, code, arguments);
    if (code && code->type == ValueType::bytes)
      must(code->most_bytes > 0 && code->most_bytes <= TC_STR_LEN);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string_view input{reinterpret_cast<const char*>(data), size};
  const size_t line = std::min(input.find('\n'), size);
  const Arguments arguments = arguments_of(input.substr(0, line));
  std::string_view text = input.substr(std::min(line + 1, size));
  check_keys(text, arguments);
  auto expr = parse_condition(text);
  if (!expr) {
    must(!expr.error().spot || expr.error().spot->column <= text.size());
    return 0;
  }
  auto again = parse_condition(to_string(*expr));
  must(again && *again == *expr);
  check_outcome(*expr, compile_condition(*expr, arguments), arguments);
  check_outcome(*expr, compile_value(*expr, arguments), arguments);
  return 0;
}
