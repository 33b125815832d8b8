// SPDX-License-Identifier: BSD-2-Clause
#include "client/export/field_value.h"

#include <fmt/format.h>

#include <concepts>

#include "daemon/model/number.h"

namespace tracectl {
namespace {

FieldValue field_of(std::integral auto number) { return number; }
FieldValue field_of(std::floating_point auto number) { return double{number}; }

FieldValue typed_value(const Argument& type, uint64_t bits) {
  return std::visit([](auto number) { return field_of(number); }, number_of(type, bits));
}

FieldValue value_in(const Event& event, const Argument& type, const Value& value) {
  if (!value) return {};
  if (!type.is_string) return typed_value(type, *value);
  if (*value >= event.strings.size()) return {};
  return std::string_view(event.strings[*value]);
}

struct PlainText {
  std::string operator()(std::monostate) const { return ""; }
  std::string operator()(std::string_view text) const { return std::string(text); }
  template <class Number> std::string operator()(Number number) const {
    return fmt::format("{}", number);
  }
};

}  // namespace

const Argument& type_of_argument(const Event& event, size_t index) {
  static const Argument kUntyped;
  const Arguments& types = event.source->arguments;
  return index < types.size() ? types[index] : kUntyped;
}

std::string name_of_argument(const Event& event, size_t index) {
  const std::string& name = type_of_argument(event, index).name;
  return name.empty() ? fmt::format("arg{}", index) : name;
}

FieldValue argument_value(const Event& event, size_t index) {
  return value_in(event, type_of_argument(event, index), event.args[index]);
}

FieldValue result_value(const Event& event) {
  return value_in(event, type_of_result(*event.source), event.retval);
}

std::string plain_text(const FieldValue& value) { return std::visit(PlainText{}, value); }

std::string stack_lines(const Stack& stack) {
  std::string text;
  for (const Frame& frame : stack.frames) text += (text.empty() ? "" : "\n") + to_string(frame);
  return text;
}

}  // namespace tracectl
