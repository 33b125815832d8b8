// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/protocol/frames.h"

#include <algorithm>
#include <utility>

#include <nlohmann/json.hpp>

#include "daemon/base/nearest.h"
#include "daemon/protocol/codec.h"
#include "daemon/protocol/methods.h"

namespace tracectl::protocol {
namespace {

using nlohmann::json;

std::string line_of(json message) { return text_of(std::move(message)) + "\n"; }

Error invalid(std::string message, std::string field = {}) {
  return {Code::invalid, std::move(message), std::move(field)};
}

RefusedCall invalid_request(Json id, Error error) {
  return {std::move(id), RpcCode::invalid_request, std::move(error)};
}

// The answer repeats the id, and is limited in length too.
constexpr size_t kMaxIdBytes = 256;

bool is_id(const json& value) {
  if (value.is_string()) return value.get_ref<const std::string&>().size() <= kMaxIdBytes;
  return value.is_number_integer();
}

// The message's id if it has a valid one, so that the answer to a bad request has it too.
json id_of(const json& message) {
  auto found = message.find("id");
  return found != message.end() && is_id(*found) ? *found : json{};
}

bool has_version(const json& message) {
  auto found = message.find("jsonrpc");
  return found != message.end() && *found == "2.0";
}

std::optional<Error> fault_of_id(const json& message) {
  auto id = message.find("id");
  if (id == message.end()) {
    return invalid("a request needs an id: this server takes no notifications", "id");
  }
  if (!is_id(*id)) return invalid("id: expected an integer or a string of at most 256 bytes", "id");
  return std::nullopt;
}

std::optional<Error> fault_of_members(const json& message) {
  for (const auto& [name, value] : message.items()) {
    std::string_view known[] = {"jsonrpc", "id", "method", "params"};
    if (std::find(std::begin(known), std::end(known), name) != std::end(known)) continue;
    return invalid(name + ": unknown member of a request" + did_you_mean(name, known), name);
  }
  return std::nullopt;
}

std::optional<Error> fault_of(const json& message) {
  if (!has_version(message)) return invalid("jsonrpc: expected \"2.0\"", "jsonrpc");
  if (auto fault = fault_of_id(message)) return fault;
  auto method = message.find("method");
  if (method == message.end() || !method->is_string()) {
    return invalid("method: expected a string", "method");
  }
  return fault_of_members(message);
}

std::string nearest_method(const std::string& method) {
  std::vector<std::string_view> names;
  for (const Method& one : all_methods()) names.push_back(one.name);
  return did_you_mean(method, names);
}

// Errors quote the request's text, but not a megabyte of it.
std::string clipped(const std::string& text) {
  constexpr size_t kMaxBytes = 8192;
  return text.size() <= kMaxBytes ? text : text.substr(0, kMaxBytes) + "...";
}

// An error as the client gets it: the texts of Error, with a number.
Json error_object(int number, const Error& error) {
  ErrorPart part;
  part.code = number;
  part.message = clipped(error.message);
  part.data.code = name_of(error.code);
  if (!error.field.empty()) part.data.field = clipped(error.field);
  if (error.spot) {
    part.data.text = clipped(error.spot->text);
    part.data.column = error.spot->column;
  }
  return to_json(part);
}

std::string numbered_error_line(const Json& id, int number, const Error& error) {
  return line_of(
      {{"jsonrpc", "2.0"}, {"id", id.value()}, {"error", error_object(number, error).value()}});
}

constexpr Code kCodes[] = {Code::invalid,   Code::not_found,   Code::denied, Code::busy,
                           Code::exhausted, Code::unsupported, Code::kernel};

// A newer daemon may have codes that this client does not know.
Code code_named(std::string_view name) {
  for (Code code : kCodes) {
    if (name == name_of(code)) return code;
  }
  return Code::kernel;
}

Result<Json> error_of(const Json& object) {
  auto part = from_json<ErrorPart>(object);
  if (!part) return part.error().in("the peer's error is malformed");
  Error error{code_named(part->data.code), part->message, part->data.field.value_or("")};
  if (part->data.text) error.spot = Spot{*part->data.text, part->data.column.value_or(0)};
  return error;
}

Result<Incoming> notification_of(const Json& whole) {
  const json& message = whole.value();
  auto method = message.find("method");
  auto params = message.find("params");
  if (!method->is_string() || params == message.end() || !params->is_object()) {
    return invalid("the peer's notification is malformed");
  }
  return Incoming{Notification{method->get<std::string>(), whole.part(*params)}};
}

Result<Incoming> answer_of(const Json& whole) {
  const json& message = whole.value();
  auto result = message.find("result");
  auto error = message.find("error");
  if ((result == message.end()) == (error == message.end())) {
    return invalid("the peer's answer has neither or both of result and error");
  }
  Json id = id_of(message);
  if (result != message.end()) return Incoming{Answer{std::move(id), whole.part(*result)}};
  return Incoming{Answer{std::move(id), error_of(whole.part(*error))}};
}

}  // namespace

// ---- lines ----

void LineBuffer::feed(std::string_view bytes) {
  // Returned lines are dropped here and not in next(), because its line must stay valid.
  bytes_.erase(0, start_);
  scanned_ -= start_;
  start_ = 0;
  bytes_ += bytes;
}

Result<std::optional<std::string_view>> LineBuffer::next() {
  size_t feed = bytes_.find('\n', scanned_);
  size_t end = feed == bytes_.npos ? bytes_.size() : feed;
  if (end - start_ > limit_bytes_) {
    return invalid("a message may be " + std::to_string(limit_bytes_ >> 20) + " MiB at most");
  }
  if (feed == bytes_.npos) {
    scanned_ = end;
    return std::optional<std::string_view>{};
  }
  std::string_view line = std::string_view{bytes_}.substr(start_, end - start_);
  start_ = scanned_ = end + 1;
  return std::optional{line};
}

// ---- codes ----

int number_of(Code code) {
  switch (code) {
    case Code::invalid: return 1;
    case Code::not_found: return 2;
    case Code::denied: return 3;
    case Code::busy: return 4;
    case Code::exhausted: return 5;
    case Code::unsupported: return 6;
    case Code::kernel: return 7;
  }
  return 0;
}

const char* name_of(Code code) {
  switch (code) {
    case Code::invalid: return "invalid";
    case Code::not_found: return "not_found";
    case Code::denied: return "denied";
    case Code::busy: return "busy";
    case Code::exhausted: return "exhausted";
    case Code::unsupported: return "unsupported";
    case Code::kernel: return "kernel";
  }
  return "";
}

// ---- requests ----

std::variant<Call, RefusedCall> parse_call(std::string_view line) {
  auto parsed = parse_json(line);
  if (!parsed) return RefusedCall{{}, RpcCode::parse, parsed.error()};
  const json& message = parsed->value();
  if (message.is_array()) {
    return invalid_request({}, invalid("batches are not taken: send one request a line"));
  }
  if (!message.is_object()) {
    return invalid_request({}, invalid("a request is a JSON object"));
  }
  if (auto fault = fault_of(message)) return invalid_request(id_of(message), *std::move(fault));
  Call call{id_of(message), message["method"], json::object()};
  if (auto params = message.find("params"); params != message.end())
    call.params = parsed->part(*params);
  if (call.params.value().is_object()) return call;
  return invalid_params(call, invalid("params: expected an object", "params"));
}

RefusedCall unknown_method(const Call& call) {
  std::string message = "unknown method \"" + call.method + "\"" + nearest_method(call.method);
  return {call.id, RpcCode::unknown_method, invalid(std::move(message), "method")};
}

// ---- answers ----

Error longer_than_an_answer() {
  return {Code::exhausted,
          "the answer is longer than the 64 MiB an answer may have: ask for less, by a narrower "
          "pattern"};
}

std::string reply_line(const Json& id, const Json& result) {
  std::string line = line_of({{"jsonrpc", "2.0"}, {"id", id.value()}, {"result", result.value()}});
  if (line.size() - 1 <= kMaxAnswerBytes) return line;
  return error_line(id, longer_than_an_answer());
}

std::string error_line(const Json& id, const Error& error) {
  return numbered_error_line(id, number_of(error.code), error);
}

std::string error_line(const RefusedCall& refusal) {
  return numbered_error_line(refusal.id, static_cast<int>(refusal.code), refusal.error);
}

std::string notification_line(std::string_view method, const Json& params) {
  return line_of({{"jsonrpc", "2.0"}, {"method", method}, {"params", params.value()}});
}

// ---- the client's side ----

std::string call_line(int64_t id, std::string_view method, const Json& params) {
  return line_of({{"jsonrpc", "2.0"}, {"id", id}, {"method", method}, {"params", params.value()}});
}

Result<Incoming> parse_incoming(std::string_view line) {
  auto message = parse_json(line);
  if (!message) return message.error().in("the peer's message");
  if (!message->value().is_object() || !has_version(message->value())) {
    return invalid("the peer does not speak JSON-RPC 2.0");
  }
  return message->value().contains("method") ? notification_of(*message) : answer_of(*message);
}

}  // namespace tracectl::protocol
