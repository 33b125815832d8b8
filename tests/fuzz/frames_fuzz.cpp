// SPDX-License-Identifier: BSD-2-Clause
//
// Input: a byte stream from an untrusted client to the daemon, from an untrusted daemon to a client, or from
// a previous daemon to the next.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "daemon/protocol/codec.h"
#include "daemon/protocol/convert.h"
#include "daemon/protocol/events.h"
#include "daemon/protocol/frames.h"
#include "daemon/protocol/saved_state.h"

using namespace tracectl;
using namespace tracectl::protocol;

namespace {

void must(bool promise) {
  if (!promise) std::abort();
}

// Output is one line that the other side can read.
void check_line(const std::string& line) {
  must(line.find('\n') == line.size() - 1);
  must(line.size() - 1 <= kMaxMessageBytes);
  must(bool{parse_incoming(std::string_view{line}.substr(0, line.size() - 1))});
}

template <class T> void check_content(const Json& content) {
  auto value = from_json<T>(content);
  if (!value) return check_line(error_line(nlohmann::json(1), value.error()));
  must(bool{from_json<T>(to_json(*value))});
}

template <class... Requests> void check_every_type(const Json& content, RequestList<Requests...>) {
  (check_content<Requests>(content), ...);
  (check_content<typename Requests::Reply>(content), ...);
}

void as_server(std::string_view line) {
  auto parsed = parse_call(line);
  if (auto* refusal = std::get_if<RefusedCall>(&parsed)) return check_line(error_line(*refusal));
  Call& call = std::get<Call>(parsed);
  check_line(error_line(unknown_method(call)));
  check_line(reply_line(call.id, call.params));
  check_every_type(call.params, AllRequests{});
  if (auto part = from_json<TargetPart>(call.params)) (void)target_of(*part);
}

void as_client(std::string_view line) {
  auto incoming = parse_incoming(line);
  if (!incoming) return;
  auto* notification = std::get_if<Notification>(&*incoming);
  if (!notification) return;
  auto item = parse_notification(*notification);
  if (!item) return;
  auto* event = std::get_if<Event>(&*item);
  WallClock wall{0};
  if (event) must(nlohmann::json::accept(event_json(*event, wall)));
}

void as_next_daemon(std::string_view text) {
  const auto state = saved_state(text);
  if (state) must(bool{saved_state(text_of(*state))});
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string_view stream{reinterpret_cast<const char*>(data), size};
  as_next_daemon(stream);
  LineBuffer buffer;
  while (!stream.empty()) {
    // In pieces, as from a socket.
    size_t piece = std::min<size_t>(stream.size(), 1 + static_cast<uint8_t>(stream[0]));
    buffer.feed(stream.substr(0, piece));
    stream.remove_prefix(piece);
    for (auto line = buffer.next(); line && *line; line = buffer.next()) {
      as_server(**line);
      as_client(**line);
    }
  }
  return 0;
}
