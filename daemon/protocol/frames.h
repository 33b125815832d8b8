// SPDX-License-Identifier: BSD-2-Clause
//
// The envelope: JSON-RPC 2.0, one message a line.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "daemon/base/result.h"
#include "daemon/protocol/json.h"

namespace tracectl::protocol {

// The longest messages, without the line feed. Messages to the daemon are short to protect it from its
// clients; an answer may list every function of a large library.
inline constexpr size_t kMaxMessageBytes = 1 << 20;  // to the daemon
inline constexpr size_t kMaxAnswerBytes = 64 << 20;  // from the daemon
Error longer_than_an_answer();

// Cuts a byte stream into lines. Holds at most the bytes fed since `next` last returned no line.
class LineBuffer {
 public:
  explicit LineBuffer(size_t limit_bytes = kMaxMessageBytes) : limit_bytes_(limit_bytes) {}
  void feed(std::string_view bytes);

  // The next complete line without its line feed, valid until the next call of `feed`; none if the
  // line is not complete yet. After an error the stream is unusable.
  Result<std::optional<std::string_view>> next();
  size_t size() const { return bytes_.size() - start_; }

 private:
  size_t limit_bytes_;
  std::string bytes_;
  size_t start_ = 0;    // of the line not yet returned
  size_t scanned_ = 0;  // no line feed in [start_, scanned_)
};

// JSON-RPC's own error numbers.
enum class RpcCode : int {
  parse = -32700,
  invalid_request = -32600,
  unknown_method = -32601,
  invalid_params = -32602,
};

// Our own error numbers: stable, documented in tracectl-protocol(7).
int number_of(Code code);
const char* name_of(Code code);

// ---- the server's side ----

// A request. A message without an id is refused, so there is always one.
struct Call {
  Json id;  // an integer or a short string
  std::string method;
  Json params;  // an object, empty if none was sent
};

// The reason why a message is no typed request; error_line answers it.
struct RefusedCall {
  Json id;  // null if the message has no valid one
  RpcCode code;
  Error error;
};

std::variant<Call, RefusedCall> parse_call(std::string_view line);
RefusedCall unknown_method(const Call& call);  // suggests the most similar method
inline RefusedCall invalid_params(const Call& call, Error error) {
  return {call.id, RpcCode::invalid_params, std::move(error)};
}

// Each ends with its line feed. A result too long for a message becomes the error `exhausted`.
std::string reply_line(const Json& id, const Json& result);
std::string error_line(const Json& id, const Error& error);
std::string error_line(const RefusedCall& refusal);
std::string notification_line(std::string_view method, const Json& params);

// ---- the client's side ----

std::string call_line(int64_t id, std::string_view method, const Json& params);

struct Answer {
  Json id;  // null if the server could not read the request's id
  Result<Json> result;
};
struct Notification {
  std::string method;
  Json params;
};
using Incoming = std::variant<Answer, Notification>;

// An error means that the peer does not speak this protocol.
Result<Incoming> parse_incoming(std::string_view line);

}  // namespace tracectl::protocol
