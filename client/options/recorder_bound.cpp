// SPDX-License-Identifier: BSD-2-Clause
#include "client/options/recorder_bound.h"

#include <cctype>
#include <charconv>

#include "client/options/duration.h"
#include "client/options/size.h"
#include "daemon/base/signal_name.h"
#include "daemon/model/process_end.h"

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

Status add_signal(const std::string& name, protocol::DumpOnPart& on) {
  const auto signal = signal_named(name);
  if (!signal) return Error{Code::invalid, "there is no signal " + name};
  if (!on.signals) on.signals.emplace();
  return on.signals->push_back(*signal), ok();
}

Status add_status(const std::string& text, protocol::DumpOnPart& on) {
  int status = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), status);
  const bool is_number = read.ec == std::errc{} && read.ptr == text.data() + text.size();
  if (!is_number || status < 1 || status > WatchedEnds::kMostStatus)
    return Error{Code::invalid, "an exit status from 1 to 255 is wanted, not " + text};
  if (!on.exit_statuses) on.exit_statuses.emplace();
  return on.exit_statuses->push_back(status), ok();
}

Status add_cause(const std::string& cause, protocol::DumpOnPart& on) {
  const size_t colon = cause.find(':');
  const std::string kind = cause.substr(0, colon);
  const std::string what = colon == cause.npos ? "" : cause.substr(colon + 1);
  if (cause == "crash") return on.crash = true, ok();
  if (kind == "signal" && !what.empty()) return add_signal(what, on);
  if (kind == "exit" && !what.empty()) return add_status(what, on);
  if (kind == "failed" && !what.empty()) return on.failed_units.push_back(what), ok();
  return Error{Code::invalid,
               "crash, signal:SIGNAL, exit:STATUS or failed:UNIT is wanted, not " + cause};
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
  for (const std::string& cause : causes)
    if (auto added = add_cause(cause, on); !added) return added.error();
  return on;
}

std::string check_dump_on(const std::string& cause) {
  const auto on = parse_dump_on({cause});
  return on ? "" : on.error().message;
}

}  // namespace tracectl
