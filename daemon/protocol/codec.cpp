// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/protocol/codec.h"

#include <algorithm>
#include <stdexcept>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "daemon/base/narrow_integer.h"
#include "daemon/base/nearest.h"
#include "daemon/protocol/messages/values.h"

namespace tracectl::protocol::codec {
namespace {

using nlohmann::json;
using Kind = Type::Kind;

constexpr const char* kNoJson = "a message has a member of a type without JSON";

// ---- writing ----

json written(const Type& type, const void* value);

json elements_written(const Type& type, const void* value) {
  const Elements& elements = *type.elements;
  json out = json::array();
  for (size_t i = 0; i < elements.count(value); ++i)
    out.push_back(written(elements.type(), elements.at(value, i)));
  return out;
}

json members_written(const Type& type, const void* value) {
  const Elements& elements = *type.elements;
  json out = json::object();
  for (size_t i = 0; i < elements.count(value); ++i)
    out[elements.name_at(value, i)] = written(elements.type(), elements.at(value, i));
  return out;
}

json message_written(const Type& type, const void* value) {
  json out = json::object();
  for (const Field& field : type.message->fields()) {
    const Type& member = field.type();
    const void* at = static_cast<const char*>(value) + field.offset_bytes;
    if (member.kind != Kind::optional)
      out[field.name] = written(member, at);
    else if (member.elements->count(at))
      out[field.name] = written(member.elements->type(), member.elements->at(at, 0));
  }
  return out;
}

json integer_written(const Type::Width& width, const void* value) {
  if (width.is_signed) return signed_at(value, width.bytes);
  return unsigned_at(value, width.bytes);
}

json written(const Type& type, const void* value) {
  switch (type.kind) {
    case Kind::nothing: return nullptr;
    case Kind::boolean: return *static_cast<const bool*>(value);
    case Kind::int64: return *static_cast<const int64_t*>(value);
    case Kind::uint64: return *static_cast<const uint64_t*>(value);
    case Kind::integer: return integer_written(type.width, value);
    case Kind::real: return *static_cast<const double*>(value);
    case Kind::text: return *static_cast<const std::string*>(value);
    case Kind::list: return elements_written(type, value);
    case Kind::named: return members_written(type, value);
    case Kind::message: return message_written(type, value);
    case Kind::variant: {
      const Alternatives& held = *type.alternatives;
      return written(held.types[held.index(value)](), held.get(value));
    }
    default: break;  // an optional one is a member: message_written()
  }
  throw std::logic_error(kNoJson);
}

// ---- errors ----

// The reader's place in a document; its text is made only for an error.
struct Path {
  const Path* parent = nullptr;
  std::string_view name = {};  // of a member; empty for an element
  size_t index = 0;            // of an element

  std::string text() const {
    if (!parent) return {};
    const std::string before = parent->text();
    if (name.empty()) return before + "[" + std::to_string(index) + "]";
    return before.empty() ? std::string{name} : before + "." + std::string{name};
  }
};

const char* kind_of(const json& value) {
  switch (value.type()) {
    case json::value_t::null: return "null";
    case json::value_t::object: return "an object";
    case json::value_t::array: return "an array";
    case json::value_t::string: return "a string";
    case json::value_t::boolean: return "a boolean";
    case json::value_t::number_float: return "a number with a fraction or exponent, or too big";
    default: return "an integer";
  }
}

Error invalid(const Path& path, const std::string& what) {
  std::string field = path.text();
  std::string subject = field.empty() ? "the message" : field;
  return {Code::invalid, subject + ": " + what, std::move(field)};
}

Error ill_typed(const Path& path, const std::string& expected, const json& got) {
  return invalid(path, "expected " + expected + ", got " + kind_of(got));
}

Error out_of_range(const Path& path, const std::string& range) {
  return invalid(path, "out of range: " + range);
}

// ---- reading ----

Status take(const json& in, const Path& path, const Type& type, void* out);

Status take_int64(const json& in, const Path& path, int64_t& out) {
  if (!in.is_number_integer()) return ill_typed(path, "an integer", in);
  if (in.is_number_unsigned() && in.get<uint64_t>() > INT64_MAX)
    return out_of_range(path, "-9223372036854775808 to 9223372036854775807");
  out = in.get<int64_t>();
  return ok();
}

Status take_uint64(const json& in, const Path& path, uint64_t& out) {
  if (!in.is_number_integer()) return ill_typed(path, "an integer", in);
  // A value that was made in this process, not parsed, can be of a signed type and not negative.
  if (!in.is_number_unsigned() && in.get<int64_t>() < 0)
    return out_of_range(path, "0 to 18446744073709551615");
  out = in.get<uint64_t>();
  return ok();
}

// Of less than 64 bits.
Status take_integer(const json& in, const Path& path, const Type::Width& width, void* out) {
  const unsigned bits = 8u * width.bytes;
  if (!width.is_signed) {
    const uint64_t most = (uint64_t{1} << bits) - 1;
    uint64_t number = 0;
    if (Status taken = take_uint64(in, path, number); !taken) return taken;
    if (number > most) return out_of_range(path, "0 to " + std::to_string(most));
    put(number, out, width.bytes);
    return ok();
  }
  const int64_t most = (int64_t{1} << (bits - 1)) - 1;
  int64_t number = 0;
  if (Status taken = take_int64(in, path, number); !taken) return taken;
  if (number > most || number < -most - 1)
    return out_of_range(path, std::to_string(-most - 1) + " to " + std::to_string(most));
  put(static_cast<uint64_t>(number), out, width.bytes);
  return ok();
}

Status take_list(const json& in, const Path& path, const Type& type, void* out) {
  if (!in.is_array()) return ill_typed(path, "an array", in);
  type.elements->clear(out);
  Path at{&path};
  for (const json& element : in) {
    void* added = type.elements->add(out, {});
    if (Status status = take(element, at, type.elements->type(), added); !status) return status;
    ++at.index;
  }
  return ok();
}

Status take_named(const json& in, const Path& path, const Type& type, void* out) {
  if (!in.is_object()) return ill_typed(path, "an object", in);
  if (in.size() > kMaxNamed)
    return invalid(path, "at most " + std::to_string(kMaxNamed) + " members are taken");
  type.elements->clear(out);
  for (const auto& [name, value] : in.items()) {
    void* added = type.elements->add(out, name);
    if (Status status = take(value, {&path, name}, type.elements->type(), added); !status)
      return status;
  }
  return ok();
}

// The kind of alternative as which a value is read.
std::optional<Kind> alternative_for(const json& in) {
  if (in.is_null()) return Kind::nothing;
  if (in.is_string()) return Kind::text;
  if (in.is_number_unsigned()) return Kind::uint64;
  if (in.is_number_integer()) return Kind::int64;
  if (in.is_number_float()) return Kind::real;
  return std::nullopt;
}

// A text like "an integer, a string or null".
std::string expected_of(const Alternatives& held) {
  std::string expected = has_alternative(held, Kind::real) ? "a number" : "an integer";
  if (has_alternative(held, Kind::text)) expected += ", a string or null";
  return expected;
}

Status take_variant(const json& in, const Path& path, const Type& type, void* out) {
  const auto types = type.alternatives->types;
  const auto wanted = alternative_for(in);
  for (size_t i = 0; wanted && i < types.size(); ++i)
    if (types[i]().kind == *wanted)
      return take(in, path, types[i](), type.alternatives->emplace(out, i));
  return ill_typed(path, expected_of(*type.alternatives), in);
}

Status take_member(const json& in, const Path& path, const Field& field, void* out) {
  const Type& type = field.type();
  const Path at{&path, field.name};
  const bool is_optional = type.kind == Kind::optional;
  const auto found = in.find(field.name);
  if (found == in.end())
    return is_optional || field.has_default ? ok() : Status{invalid(at, "this field is required")};
  if (!is_optional) return take(*found, at, type, out);
  return take(*found, at, type.elements->type(), type.elements->add(out, {}));
}

Status check_names(const json& in, const Path& path, const std::vector<Field>& fields) {
  std::vector<std::string_view> known;
  for (const Field& field : fields) known.emplace_back(field.name);
  for (const auto& [name, value] : in.items())
    if (std::find(known.begin(), known.end(), name) == known.end())
      return invalid({&path, name}, "unknown field" + did_you_mean(name, known));
  return ok();
}

Status take_message(const json& in, const Path& path, const Type& type, void* out) {
  if (!in.is_object()) return ill_typed(path, "an object", in);
  const auto& fields = type.message->fields();
  // Unknown names are checked first: a missing field is often a misspelt one.
  if (Status known = check_names(in, path, fields); !known) return known;
  for (const Field& field : fields)
    if (Status taken = take_member(in, path, field, static_cast<char*>(out) + field.offset_bytes);
        !taken)
      return taken;
  return ok();
}

Status take(const json& in, const Path& path, const Type& type, void* out) {
  switch (type.kind) {
    case Kind::boolean:
      if (!in.is_boolean()) return ill_typed(path, "a boolean", in);
      *static_cast<bool*>(out) = in.get<bool>();
      return ok();
    case Kind::real:
      if (!in.is_number()) return ill_typed(path, "a number", in);
      *static_cast<double*>(out) = in.get<double>();
      return ok();
    case Kind::text:
      if (!in.is_string()) return ill_typed(path, "a string", in);
      *static_cast<std::string*>(out) = in.get_ref<const std::string&>();
      return ok();
    case Kind::int64: return take_int64(in, path, *static_cast<int64_t*>(out));
    case Kind::uint64: return take_uint64(in, path, *static_cast<uint64_t*>(out));
    case Kind::integer: return take_integer(in, path, type.width, out);
    case Kind::list: return take_list(in, path, type, out);
    case Kind::named: return take_named(in, path, type, out);
    case Kind::variant: return take_variant(in, path, type, out);
    case Kind::message: return take_message(in, path, type, out);
    case Kind::optional: return take(in, path, type.elements->type(), type.elements->add(out, {}));
    case Kind::nothing: return ok();
    default: break;
  }
  throw std::logic_error(kNoJson);
}

}  // namespace

Json write(const Type& type, const void* value) { return written(type, value); }

Status read(const Json& in, const Type& type, void* out) {
  return take(in.value(), Path{}, type, out);
}

}  // namespace tracectl::protocol::codec
