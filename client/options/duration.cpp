// SPDX-License-Identifier: BSD-2-Clause
#include "client/options/duration.h"

#include <cmath>
#include <stdexcept>

namespace tracectl {

std::optional<double> parse_duration(const std::string& text) {
  size_t used = 0;
  double number = 0;
  try {
    number = std::stod(text, &used);
  } catch (const std::logic_error&) {
    return std::nullopt;
  }
  const std::string unit = text.substr(used);
  const double factor = unit.empty() || unit == "s" ? 1
                        : unit == "ms"              ? 1e-3
                        : unit == "us"              ? 1e-6
                        : unit == "m"               ? 60
                                                    : 0;
  const double seconds = number * factor;
  if (factor == 0 || !std::isfinite(seconds) || seconds < 0 || seconds > 1e8) return std::nullopt;
  return seconds;
}

namespace {

// "min" of "5 min"; empty if no number comes first.
std::string unit_of(const std::string& text) {
  const size_t digit = text.find_last_of("0123456789");
  const size_t unit = digit == text.npos ? text.npos : text.find_first_not_of(' ', digit + 1);
  return unit == text.npos ? "" : text.substr(unit);
}

}  // namespace

std::string check_duration(const std::string& text) {
  if (parse_duration(text)) return "";
  const std::string wanted = "a time is wanted, as 10s, 500ms or 2m, not " + text;
  const std::string unit = unit_of(text);
  return unit.empty() ? wanted : wanted + ": the units are us, ms, s and m, without a space";
}

std::string check_interval(const std::string& text) {
  const auto seconds = parse_duration(text);
  if (!seconds) return check_duration(text);
  return *seconds >= 0.01 && *seconds <= 86400 ? "" : "an interval is from 10ms to a day";
}

}  // namespace tracectl
