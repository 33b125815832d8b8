// SPDX-License-Identifier: BSD-2-Clause
#include "client/render/metrics.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

namespace tracectl {

using namespace protocol;

namespace {

// Members of the replies that can decrease. All others are counters.
constexpr std::array<std::string_view, 15> kGauges{
    "slots_used", "slots_limit",     "hooks_used", "hooks_limit",  "keys_limit",
    "rings_open", "ring_bytes_each", "epoch",      "sessions",     "sites",
    "links",      "clients",         "lingering",  "memory_bytes", "memory_limit_bytes"};

std::string label_value(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '\\' || c == '"') out += '\\';
    out += c == '\n' ? std::string("\\n") : std::string(1, c);
  }
  return out;
}

void add(std::string& out, std::string_view name, std::string_view type, std::string_view help,
         const std::string& labels, uint64_t value) {
  out +=
      fmt::format("# HELP {0} {1}\n# TYPE {0} {2}\n{0}{3} {4}\n", name, help, type, labels, value);
}

// Called with each member of a reply; ignores those that are not counters of the daemon.
class ReplyMembers {
 public:
  explicit ReplyMembers(std::string& out) : out_(out) {}

  void operator()(std::string_view name, uint64_t value) {
    if (name == "uptime_s")
      return add(out_, "tracectl_daemon_uptime_seconds", "gauge", "Since it was started.", "",
                 value);
    const bool is_gauge = std::find(kGauges.begin(), kGauges.end(), name) != kGauges.end();
    add(out_, fmt::format("tracectl_daemon_{}{}", name, is_gauge ? "" : "_total"),
        is_gauge ? "gauge" : "counter",
        fmt::format("{} of the daemon: tracectl-protocol-daemon(7).", name), "", value);
  }
  void operator()(std::string_view, int64_t) {}
  void operator()(std::string_view, const std::string&) {}

 private:
  std::string& out_;
};

}  // namespace

std::string metrics_text(const StatusReply& status, const StatsReply& stats) {
  std::string out;
  add(out, "tracectl_up", "gauge", "1 if the daemon answers.", "", 1);
  add(out, "tracectl_info", "gauge", "The daemon.",
      fmt::format("{{kernel=\"{}\",version=\"{}\"}}", label_value(status.kernel),
                  label_value(status.version)),
      1);
  StatusReply::fields(status, ReplyMembers(out));
  StatsReply::fields(stats, ReplyMembers(out));
  return out;
}

}  // namespace tracectl
