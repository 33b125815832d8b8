// SPDX-License-Identifier: BSD-2-Clause
#include "client/export/ctf_classes.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cctype>
#include <set>

#include "client/export/field_value.h"
#include "daemon/model/value.h"

namespace tracectl {

// Numbers are written in the host's byte order.
static_assert(std::endian::native == std::endian::little);

namespace {

constexpr uint64_t kMostLines = UINT16_MAX;  // of a stack: its count has 16 bits

// A TSDL identifier for any name: the leading underscore prevents a TSDL keyword, and readers remove it.
std::string tsdl_name(std::string_view name) {
  std::string word = "_";
  for (const char c : name) word += std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
  return word;
}

bool is_enumeration(const Argument& type) {
  return type.kind == Argument::Kind::enumeration && type.enumerators &&
         !type.enumerators->empty() && !type.is_float;
}

std::string tsdl_integer(const Argument& type) {
  const bool is_address = type.kind == Argument::Kind::pointer || type.kind == Argument::Kind::text;
  return fmt::format("integer {{ size = {}; align = 8; signed = {};{} }}", 8u * type.size_bytes,
                     type.is_signed, is_address ? " base = 16;" : "");
}

std::string tsdl_type(const Argument& type) {
  if (type.is_string) return "string";
  if (type.is_float)
    return type.size_bytes == sizeof(float)
               ? "floating_point { exp_dig = 8; mant_dig = 24; align = 8; }"
               : "floating_point { exp_dig = 11; mant_dig = 53; align = 8; }";
  if (!is_enumeration(type)) return tsdl_integer(type);
  std::string text = "enum : " + tsdl_integer(type) + " {";
  for (const Enumerator& one : *type.enumerators)
    text += fmt::format(" {} = {},", tsdl_text(one.name), one.value);
  text.back() = ' ';
  return text + "}";
}

std::string tsdl_field(const std::string& type, const std::string& name) {
  return "\t\t" + type + " " + name + ";\n";
}

std::string tsdl_arguments(const Event& event) {
  std::string text;
  // The names of the event's other fields, which arguments must not repeat.
  std::set<std::string> names{"_call", "_depth", "_duration_ns",       "_result",     "_result_is",
                              "_tag",  "_stack", "_missing_arguments", "_stack_lines"};
  for (size_t i = 0; i < event.args.size(); ++i) {
    std::string name = tsdl_name(name_of_argument(event, i));
    while (!names.insert(name).second) name = fmt::format("_{}{}", i, name);
    text += tsdl_field(tsdl_type(type_of_argument(event, i)), name);
  }
  return text;
}

// A bit for each argument that could not be read.
uint64_t missing_arguments(const Event& event) {
  uint64_t bits = 0;
  for (size_t i = 0; i < event.args.size(); ++i)
    if (std::holds_alternative<std::monostate>(argument_value(event, i))) bits |= uint64_t{1} << i;
  return bits;
}

// Has the size that tsdl_type() declares.
void append_bits(std::string& to, const Argument& type, uint64_t bits) {
  const bool is_double = type.is_float && type.size_bytes != sizeof(float);
  to.append(reinterpret_cast<const char*>(&bits), is_double ? sizeof(double) : type.size_bytes);
}

// `bits` and `field` are of the same value.
void append_value(std::string& to, const Argument& type, const Value& bits,
                  const FieldValue& field) {
  if (!type.is_string) return append_bits(to, type, bits.value_or(0));
  const auto* text = std::get_if<std::string_view>(&field);
  append_ctf_text(to, text ? *text : std::string_view{});
}

void append_ctf_stack(std::string& to, const Stack& stack) {
  const size_t lines = std::min<size_t>(stack.frames.size(), kMostLines);
  append_ctf_number(to, static_cast<uint16_t>(lines));
  for (size_t i = 0; i < lines; ++i) append_ctf_text(to, to_string(stack.frames[i]));
}

// The kind of event follows the probe, except for hits.
std::string class_name(const std::string& probe, EventKind kind) {
  return kind == EventKind::hit ? probe : probe + " " + name_of(kind);
}

}  // namespace

std::string tsdl_text(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\')
      quoted += {'\\', c};
    else if (byte < ' ' || byte == 0x7f)
      quoted += fmt::format("\\{:03o}", byte);
    else
      quoted += c;
  }
  return quoted + "\"";
}

void append_ctf_text(std::string& to, std::string_view text) {
  to += text.substr(0, text.find('\0'));
  to += '\0';
}

CtfClasses::Key CtfClasses::key_of(const Event& event) {
  return {.source = event.source,
          .kind = event.kind,
          .has_call = event.call.has_value(),
          .has_duration = event.duration_ns.has_value(),
          .has_result = event.retval.has_value(),
          .has_stack = event.stack != nullptr,
          .says_what_result_is = !what_retval_is(event).empty(),
          .has_tag = !event.tag.empty(),
          .lacks_some = missing_arguments(event) != 0,
          .arguments = event.args.size()};
}

uint64_t CtfClasses::number_of(const Event& event) {
  Key key = key_of(event);
  const auto found = numbers_.find(key);
  if (found != numbers_.end()) return found->second;
  declare(key, event);
  return numbers_.emplace(std::move(key), numbers_.size()).first->second;
}

void CtfClasses::declare(const Key& key, const Event& event) {
  std::string fields;
  if (key.has_call) fields += tsdl_field("uint32_t", "call") + tsdl_field("uint32_t", "depth");
  if (key.has_duration) fields += tsdl_field("uint64_t", "duration_ns");
  if (key.has_result) fields += tsdl_field(tsdl_type(type_of_result(*key.source)), "result");
  if (key.says_what_result_is) fields += tsdl_field("string", "result_is");
  if (key.has_tag) fields += tsdl_field("string", "tag");
  if (key.lacks_some) fields += tsdl_field("uint64_hex_t", "missing_arguments");
  fields += tsdl_arguments(event);
  if (key.has_stack)
    fields += tsdl_field("uint16_t", "stack_lines") + tsdl_field("string", "stack[stack_lines]");
  declarations_ += fmt::format(
      "event {{\n\tname = {};\n\tid = {};\n\tstream_id = 0;\n\tfields := struct "
      "{{\n{}\t}};\n}};\n\n",
      tsdl_text(class_name(names_.of(key.source->probe), key.kind)), numbers_.size(), fields);
}

void append_ctf_fields(std::string& to, const Event& event) {
  if (event.call) {
    append_ctf_number(to, event.call->number);
    append_ctf_number(to, event.call->depth);
  }
  if (event.duration_ns) append_ctf_number(to, *event.duration_ns);
  if (event.retval)
    append_value(to, type_of_result(*event.source), event.retval, result_value(event));
  if (const auto what = what_retval_is(event); !what.empty()) append_ctf_text(to, what);
  if (!event.tag.empty()) append_ctf_text(to, event.tag);
  if (const uint64_t missing = missing_arguments(event)) append_ctf_number(to, missing);
  for (size_t i = 0; i < event.args.size(); ++i)
    append_value(to, type_of_argument(event, i), event.args[i], argument_value(event, i));
  if (event.stack) append_ctf_stack(to, *event.stack);
}

}  // namespace tracectl
