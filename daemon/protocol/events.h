// SPDX-License-Identifier: BSD-2-Clause
//
// Events on the wire. They are written without nlohmann/json, because up to a million a second leave
// the daemon. The fields are those of EventNotification and LostNotification (messages.h); a test
// checks that both ways of writing give the same values.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "daemon/base/result.h"
#include "daemon/model/event.h"
#include "daemon/protocol/frames.h"

namespace tracectl::protocol {

// How the lines of these notifications begin; after the parameters, `}` ends them.
inline constexpr std::string_view kEventBegins = R"({"jsonrpc":"2.0","method":"event","params":)";
inline constexpr std::string_view kLostBegins = R"({"jsonrpc":"2.0","method":"lost","params":)";

// Converts time since boot to wall time. The difference changes when the wall clock is set: call
// `sample` once for each batch of events, not for each event.
class WallClock {
 public:
  WallClock() { sample(); }
  // For tests: wall = time since boot + `offset_ns`.
  explicit WallClock(int64_t offset_ns) : offset_ns_(offset_ns) {}

  void sample();
  // 2026-01-31T23:59:59.000000001Z
  void append(std::string& out, uint64_t since_boot_ns);
  // The same to memory with room for kMostBytes; returns the end of the text.
  char* write(char* to, uint64_t since_boot_ns);
  static constexpr size_t kMostBytes = 48;

 private:
  void render_second(int64_t second);

  int64_t offset_ns_ = 0;
  int64_t second_begins_ns_ = 0;  // of the second that `prefix_` shows
  std::string prefix_;            // the text up to the decimal point, with it
};

// Appends the event's JSON object, without a line feed; reuse `out`. Bytes of comm or probe
// that are not UTF-8 become U+FFFD. A float that JSON has no number for is written as
// "NaN", "Infinity" or "-Infinity".
// `demangled`: of the probe's function; empty if that is not known, or its name is not mangled.
void append_event(std::string& out, const Event& event, WallClock& wall,
                  std::string_view demangled = {});
void append_lost(std::string& out, const Lost& lost, std::string_view session);
// The part of append_event() from the epoch to the kind, with the comma before it.
void append_event_head(std::string& out, const Event& event, std::string_view demangled);

// The same as a notification, with its line feed.
void append_event_line(std::string& out, const Event& event, WallClock& wall);
void append_probe_line(std::string& out, const EventSource& source);
void append_lost_line(std::string& out, const Lost& lost, std::string_view session);

std::string event_json(const Event& event, WallClock& wall);
std::string lost_json(const Lost& lost, std::string_view session);

// The number of events, by session, in lines of notifications: those shown and those reported as lost. Other lines
// count as none.
std::map<std::string, uint64_t> reported_in(std::string_view lines);

// Whether a line from the daemon is such a notification. Without looking at the rest.
bool is_event_or_loss(std::string_view line);
// The event's object in such a line; none if it is no event's.
std::optional<std::string_view> event_in(std::string_view line);
// The JSON of the probe in an event's object, with its quotes; empty if there is none.
std::string_view probe_in(std::string_view event);
bool has_stack(std::string_view event);

// Parses a line that `--json` printed: append_event() or, within {"lost": }, append_lost().
Result<StreamItem> parse_line(std::string_view line);

// Parses an `event` or `lost` notification, for the client. The arguments in the event's source
// have the type that their value's text shows: signed if negative, a double if it has a fraction or
// is one of the three words above, a string if it is any other text.
Result<StreamItem> parse_notification(const Notification& notification);

}  // namespace tracectl::protocol
