// SPDX-License-Identifier: BSD-2-Clause
#include "client/render/args.h"

#include <fmt/format.h>

#include "daemon/model/expr.h"
#include "daemon/model/value.h"

namespace tracectl {
namespace {

// "size=", and "arg2=" for a parameter without a name among others that have one.
std::string label_of(const Argument& argument, size_t index) {
  if (!argument.name.empty()) return argument.name + "=";
  return argument.declared_type.empty() ? "" : fmt::format("arg{}=", index);
}

// A string's value is an index of the event's strings.
std::optional<std::string> text_of(const Event& event, const Value& value) {
  if (!value || *value >= event.strings.size()) return std::nullopt;
  return event.strings[*value];
}

std::string value_of(const Event& event, const Argument& argument, const Value& value) {
  if (!argument.is_string) return value_text(argument, value);
  const auto text = text_of(event, value);
  return text ? quoted_text(*text) : "?";
}

}  // namespace

std::string arguments_text(const Event& event) {
  std::string text;
  for (size_t i = 0; i < event.args.size(); ++i) {
    static const Argument kPlain;
    const bool typed = i < event.source->arguments.size();
    const Argument& argument = typed ? event.source->arguments[i] : kPlain;
    text += (i ? ", " : "") + label_of(argument, i) + value_of(event, argument, event.args[i]);
  }
  return text;
}

std::optional<std::string> result_text(const Event& event) {
  const Argument& type = type_of_result(*event.source);
  const std::string what(what_retval_is(event));
  if (!event.retval && what.empty()) return std::nullopt;
  if (!event.retval) return "? (" + what + ")";
  if (type.is_string) return text_of(event, event.retval);
  const std::string value = value_text(type, event.retval);
  return what.empty() ? value : what + "=" + value;
}

std::string ending_text(const Event& event) {
  const auto result = result_text(event);
  if (!result) return {};
  const bool is_register = event.retval && !what_retval_is(event).empty();
  return (is_register ? " " : " = ") + *result;
}

}  // namespace tracectl
