// SPDX-License-Identifier: BSD-2-Clause
#include "client/options/recorder_bound.h"

#include <cctype>

#include "client/options/duration.h"
#include "client/options/size.h"

namespace tracectl {
namespace {

bool has_unit(const std::string& text) {
  return !text.empty() && std::isalpha(static_cast<unsigned char>(text.back()));
}

bool read_bound(const std::string& text, protocol::RecorderBoundPart& bound) {
  if (!has_unit(text)) return false;
  if (const auto bytes = parse_size(text); bytes && !bound.bytes) {
    bound.bytes = *bytes;
    return true;
  }
  if (const auto seconds = parse_duration(text); seconds && !bound.seconds) {
    bound.seconds = *seconds;
    return true;
  }
  return false;
}

}  // namespace

Result<protocol::RecorderBoundPart> parse_recorder_bound(const std::string& text) {
  protocol::RecorderBoundPart bound;
  const size_t comma = text.find(',');
  bool is_read = read_bound(text.substr(0, comma), bound);
  if (is_read && comma != std::string::npos) is_read = read_bound(text.substr(comma + 1), bound);
  if (is_read) return bound;
  return Error{Code::invalid,
               "a size or a time is wanted, or both, as 64M, 10s or 64M,10s, not " + text};
}

std::string check_recorder_bound(const std::string& text) {
  const auto bound = parse_recorder_bound(text);
  return bound ? "" : bound.error().message;
}

Result<protocol::DumpOnPart> parse_dump_on(const std::vector<std::string>& causes) {
  protocol::DumpOnPart on;
  constexpr std::string_view kFailed = "failed:";
  for (const std::string& cause : causes) {
    if (cause == "crash")
      on.crash = true;
    else if (cause.starts_with(kFailed) && cause.size() > kFailed.size())
      on.failed_units.push_back(cause.substr(kFailed.size()));
    else
      return Error{Code::invalid, "crash or failed:UNIT is wanted, not " + cause};
  }
  return on;
}

std::string check_dump_on(const std::string& cause) {
  const auto on = parse_dump_on({cause});
  return on ? "" : on.error().message;
}

}  // namespace tracectl
