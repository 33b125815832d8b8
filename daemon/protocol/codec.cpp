// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/protocol/codec.h"

#include <algorithm>

namespace tracectl::protocol {
namespace {

// How deep arrays and objects nest, looking at no more than brackets and strings: enough to keep
// the parser and every walk over its result within kMaxDepth. Text that is not JSON may be counted
// wrong; the parser refuses it.
size_t depth_of(std::string_view text) {
  size_t depth = 0, deepest = 0;
  bool in_string = false;
  for (size_t at = 0; at < text.size(); at++) {
    char c = text[at];
    if (c == '"')
      in_string = !in_string;
    else if (in_string)
      at += c == '\\';
    else if (c == '[' || c == '{')
      deepest = std::max(deepest, ++depth);
    else if ((c == ']' || c == '}') && depth)
      depth--;
  }
  return deepest;
}

const char* kind_of(const nlohmann::json& value) {
  switch (value.type()) {
    case nlohmann::json::value_t::null: return "null";
    case nlohmann::json::value_t::object: return "an object";
    case nlohmann::json::value_t::array: return "an array";
    case nlohmann::json::value_t::string: return "a string";
    case nlohmann::json::value_t::boolean: return "a boolean";
    case nlohmann::json::value_t::number_float:
      return "a number with a fraction or exponent, or too big";
    default: return "an integer";
  }
}

Error invalid(const Path& path, const std::string& what) {
  std::string field = path.text();
  std::string subject = field.empty() ? "the message" : field;
  return {Code::invalid, subject + ": " + what, std::move(field)};
}

template <class Variant> bool take_integer(const nlohmann::json& in, Variant& out) {
  if (in.is_number_unsigned())
    out = in.get<uint64_t>();
  else if (in.is_number_integer())
    out = in.get<int64_t>();
  else
    return false;
  return true;
}

template <class Variant> bool take_text_or_null(const nlohmann::json& in, Variant& out) {
  if (in.is_string())
    out = in.get_ref<const std::string&>();
  else if (in.is_null())
    out = std::monostate{};
  else
    return false;
  return true;
}

}  // namespace

std::string Path::text() const {
  if (!parent) return {};
  std::string before = parent->text();
  if (name.empty()) return before + "[" + std::to_string(index) + "]";
  return before.empty() ? std::string{name} : before + "." + std::string{name};
}

Result<nlohmann::json> parse_json(std::string_view text) {
  if (depth_of(text) > kMaxDepth) {
    return Error{Code::invalid, "JSON may nest " + std::to_string(kMaxDepth) + " levels at most"};
  }
  auto value = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (value.is_discarded()) return Error{Code::invalid, "this is not JSON in UTF-8"};
  return value;
}

std::string text_of(const nlohmann::json& value) {
  return value.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

namespace codec {

Error ill_typed(const Path& path, const char* expected, const json& got) {
  return invalid(path, std::string{"expected "} + expected + ", got " + kind_of(got));
}

Error out_of_range(const Path& path, const char* range) {
  return invalid(path, std::string{"out of range: "} + range);
}

Error too_many(const Path& path, size_t most) {
  return invalid(path, "at most " + std::to_string(most) + " members are taken");
}

Error missing(const Path& path) { return invalid(path, "this field is required"); }

Error unknown(const Path& path, std::span<const std::string_view> known) {
  return invalid(path, "unknown field" + did_you_mean(path.name, known));
}

Status read(const json& in, const Path& path, bool& out) {
  if (!in.is_boolean()) return ill_typed(path, "a boolean", in);
  out = in.get<bool>();
  return ok();
}

Status read(const json& in, const Path& path, int64_t& out) {
  if (!in.is_number_integer()) return ill_typed(path, "an integer", in);
  if (in.is_number_unsigned() && in.get<uint64_t>() > INT64_MAX) {
    return out_of_range(path, "-9223372036854775808 to 9223372036854775807");
  }
  out = in.get<int64_t>();
  return ok();
}

Status read(const json& in, const Path& path, uint64_t& out) {
  if (!in.is_number_integer()) return ill_typed(path, "an integer", in);
  // A value made in this process, not parsed, may be signed and not negative.
  if (!in.is_number_unsigned() && in.get<int64_t>() < 0) {
    return out_of_range(path, "0 to 18446744073709551615");
  }
  out = in.get<uint64_t>();
  return ok();
}

Status read(const json& in, const Path& path, double& out) {
  if (!in.is_number()) return ill_typed(path, "a number", in);
  out = in.get<double>();
  return ok();
}

Status read(const json& in, const Path& path, std::string& out) {
  if (!in.is_string()) return ill_typed(path, "a string", in);
  out = in.get_ref<const std::string&>();
  return ok();
}

Status read(const json& in, const Path& path, Integer& out) {
  if (take_integer(in, out)) return ok();
  return ill_typed(path, "an integer", in);
}

Status read(const json& in, const Path& path, Key& out) {
  if (take_integer(in, out) || take_text_or_null(in, out)) return ok();
  return ill_typed(path, "an integer, a string or null", in);
}

Status read(const json& in, const Path& path, Scalar& out) {
  if (take_integer(in, out) || take_text_or_null(in, out)) return ok();
  if (!in.is_number_float()) return ill_typed(path, "a number, a string or null", in);
  out = in.get<double>();
  return ok();
}

Status Reader::finish() {
  // First what is not known: a field that is missing is often one that was misspelt.
  for (const auto& [name, value] : in_.items()) {
    if (std::find(known_.begin(), known_.end(), name) != known_.end()) continue;
    return unknown(Path{&path_, name}, known_);
  }
  return status_;
}

}  // namespace codec
}  // namespace tracectl::protocol
