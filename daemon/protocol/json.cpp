// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/protocol/json.h"

#include <algorithm>
#include <utility>

#include <nlohmann/json.hpp>

namespace tracectl::protocol {
namespace {

// The depth to which arrays and objects nest, found by looking at brackets and strings only. It keeps
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

}  // namespace

Json::Json(nlohmann::json value)
    : value_(std::make_shared<const nlohmann::json>(std::move(value))) {}

const nlohmann::json& Json::value() const {
  static const nlohmann::json kNull;
  return value_ ? *value_ : kNull;
}

Json Json::part(const nlohmann::json& within) const {
  Json part;
  part.value_ = {value_, &within};
  return part;
}

Result<Json> parse_json(std::string_view text) {
  if (depth_of(text) > kMaxDepth) {
    return Error{Code::invalid, "JSON may nest " + std::to_string(kMaxDepth) + " levels at most"};
  }
  auto value = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (value.is_discarded()) return Error{Code::invalid, "this is not JSON in UTF-8"};
  return Json{std::move(value)};
}

std::string text_of(const Json& value) {
  return value.value().dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace tracectl::protocol
