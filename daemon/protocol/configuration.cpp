// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/protocol/configuration.h"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "daemon/protocol/codec.h"

namespace tracectl::protocol {
namespace {

// Accepts everything, and remembers where the parser stopped, which it reports only to such a handler.
class PlaceOfError : public nlohmann::json_sax<nlohmann::json> {
 public:
  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(number_integer_t) override { return true; }
  bool number_unsigned(number_unsigned_t) override { return true; }
  bool number_float(number_float_t, const string_t&) override { return true; }
  bool string(string_t&) override { return true; }
  bool binary(binary_t&) override { return true; }
  bool start_object(size_t) override { return true; }
  bool key(string_t&) override { return true; }
  bool end_object() override { return true; }
  bool start_array(size_t) override { return true; }
  bool end_array() override { return true; }
  bool parse_error(size_t position, const std::string&,
                   const nlohmann::detail::exception&) override {
    read_bytes = position;
    return false;
  }

  size_t read_bytes = 0;  // with the one that is not allowed there
};

std::string place_of_error(std::string_view text) {
  PlaceOfError place;
  nlohmann::json::sax_parse(text, &place);
  const auto before =
      text.substr(0, std::min(text.size(), std::max(place.read_bytes, size_t{1}) - 1));
  const auto line = 1 + std::count(before.begin(), before.end(), '\n');
  const size_t column = before.size() - (before.rfind('\n') + 1) + 1;
  return "line " + std::to_string(line) + ", column " + std::to_string(column);
}

}  // namespace

Result<Json> parse_text(std::string_view text) {
  auto value = parse_json(text);
  if (!value && value.error().code == Code::invalid) return value.error().in(place_of_error(text));
  return value;
}

Result<AskedConfiguration> asked_configuration(std::string_view text) {
  auto value = parse_text(text);
  if (!value) return value.error();
  return from_json<AskedConfiguration>(*value);
}

}  // namespace tracectl::protocol
