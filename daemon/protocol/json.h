// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

#include "daemon/base/result.h"

namespace tracectl::protocol {

// A JSON value that does not change. Copies share it. Other rooms pass it on without including nlohmann/json.
class Json {
 public:
  Json() = default;  // null
  Json(nlohmann::json value);

  // Valid while this or a copy exists.
  const nlohmann::json& value() const;
  // A value within this one; the part keeps the whole alive.
  Json part(const nlohmann::json& within) const;

 private:
  std::shared_ptr<const nlohmann::json> value_;
};

inline constexpr size_t kMaxDepth = 32;  // of nested arrays and objects

// Parses one JSON text of at most kMaxDepth levels.
Result<Json> parse_json(std::string_view text);

// The text of a value on one line. Bytes that are not UTF-8 become U+FFFD.
std::string text_of(const Json& value);

}  // namespace tracectl::protocol
