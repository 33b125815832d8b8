// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/protocol/events.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <ctime>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

#include "daemon/base/clock.h"
#include "daemon/model/number.h"
#include "daemon/protocol/codec.h"
#include "daemon/protocol/convert.h"
#include "daemon/protocol/json_text.h"
#include "daemon/protocol/stacks.h"

namespace tracectl::protocol {
namespace {

constexpr uint32_t kNsPerSecond = 1'000'000'000;

int64_t now_ns(clockid_t clock) { return static_cast<int64_t>(clock_ns(clock)); }

// ---- writing ----

template <std::integral T>
void append_field(std::string& out, std::string_view name_and_colon, T value) {
  out += name_and_colon;
  append_integer(out, value);
}

void append_number(std::string& out, std::integral auto number) { append_integer(out, number); }
void append_number(std::string& out, std::floating_point auto number) { append_float(out, number); }

void append_value(std::string& out, const Event& event, const Value& value, const Argument& type) {
  if (!value || (type.is_string && *value >= event.strings.size()))
    out += "null";
  else if (type.is_string)
    append_string(out, event.strings[*value]);
  else
    std::visit([&](auto number) { append_number(out, number); }, number_of(type, *value));
}

void append_args(std::string& out, const Event& event) {
  static const Argument kUntyped;  // an unsigned 64-bit integer
  const Arguments& types = event.source->arguments;
  out += ",\"args\":[";
  for (size_t i = 0; i < event.args.size(); i++) {
    if (i) out += ',';
    append_value(out, event, event.args[i], i < types.size() ? types[i] : kUntyped);
  }
  out += ']';
}

void append_call(std::string& out, const CallMark& call) {
  append_field(out, ",\"call\":", call.number);
  append_field(out, ",\"depth\":", call.depth);
}

// The result and duration of a call that has ended.
void append_end(std::string& out, const Event& event) {
  if (event.kind == EventKind::hit) return;
  if (event.kind != EventKind::latency && !returns_nothing(*event.source)) {
    out += ",\"retval\":";
    append_value(out, event, event.retval, type_of_result(*event.source));
  }
  if (const auto what = what_retval_is(event); !what.empty()) {
    out += ",\"retval_is\":";
    append_string(out, what);
  }
  if (event.duration_ns) append_field(out, ",\"duration\":", *event.duration_ns);
  if (!event.off_cpu) return;
  append_field(out, ",\"runnable\":", event.off_cpu->runnable_ns);
  append_field(out, ",\"blocked\":", event.off_cpu->blocked_ns);
}

// ---- reading ----

Error malformed(const char* what) {
  return {Code::invalid, std::string{"the peer's notification is malformed: "} + what};
}

template <class To, class From> bool fits(From value) { return std::in_range<To>(value); }

struct TypedValue {
  Argument type;
  Value bits;
};

TypedValue typed(std::monostate) { return {}; }
TypedValue typed(uint64_t value) { return {{}, value}; }
TypedValue typed(int64_t value) {
  TypedValue typed{{}, static_cast<uint64_t>(value)};
  typed.type.is_signed = true;
  return typed;
}
TypedValue typed(double value) {
  TypedValue typed{{}, std::bit_cast<uint64_t>(value)};
  typed.type.is_float = true;
  return typed;
}

std::optional<double> double_named(std::string_view text) {
  if (text == "NaN") return std::numeric_limits<double>::quiet_NaN();
  if (text == "Infinity") return std::numeric_limits<double>::infinity();
  if (text == "-Infinity") return -std::numeric_limits<double>::infinity();
  return std::nullopt;
}

// Only strings add to the event's strings.
template <class T> TypedValue typed(const T& held, std::vector<std::string>&) {
  return typed(held);
}
TypedValue typed(const std::string& text, std::vector<std::string>& strings) {
  if (const auto number = double_named(text)) return typed(*number);
  TypedValue typed{{}, strings.size()};
  typed.type.is_string = true;
  strings.push_back(text);
  return typed;
}

void add_args(const std::vector<Scalar>& scalars, EventSource& source, Event& event) {
  for (const Scalar& scalar : scalars) {
    TypedValue value =
        std::visit([&](const auto& held) { return typed(held, event.strings); }, scalar);
    source.arguments.push_back(std::move(value.type));
    event.args.push_back(value.bits);
  }
}

Argument result_without_value(const EventNotification& wire) {
  Argument result;
  if (wire.retval_is)
    result.text = *wire.retval_is;
  else
    result.place = wire.retval ? Argument::Place::in_register : Argument::Place::nothing;
  return result;
}

// The result of a call that returned.
void add_result(const EventNotification& wire, EventSource& source, Event& event) {
  const bool has_value = wire.retval && !std::holds_alternative<std::monostate>(*wire.retval);
  if (!has_value) {
    source.result = result_without_value(wire);
    return;
  }
  TypedValue value =
      std::visit([&](const auto& held) { return typed(held, event.strings); }, *wire.retval);
  if (value.type.is_string) value.type.kind = Argument::Kind::aggregate;
  source.result = wire.retval_is ? bare_register(*wire.retval_is) : std::move(value.type);
  source.result->place = Argument::Place::in_register;
  event.retval = value.bits;
}

Result<StreamItem> event_of(EventNotification wire) {
  const auto kind = event_kind_named(wire.kind);
  if (!kind) return malformed("a kind of event this program does not know");
  if (!fits<unsigned>(wire.cpu)) return malformed("cpu is out of range");
  if (!fits<pid_t>(wire.pid) || !fits<pid_t>(wire.tid))
    return malformed("pid or tid is out of range");
  Event event;
  event.kind = *kind;
  if (wire.call) {
    if (!fits<uint32_t>(*wire.call) || !fits<uint32_t>(wire.depth.value_or(0)))
      return malformed("call or depth is out of range");
    event.call =
        CallMark{static_cast<uint32_t>(*wire.call), static_cast<uint32_t>(wire.depth.value_or(0))};
  }
  event.duration_ns = wire.duration;
  if (wire.runnable && wire.blocked)
    event.off_cpu = OffCpu{.runnable_ns = *wire.runnable, .blocked_ns = *wire.blocked};
  event.ts_ns = wire.ts;
  event.epoch = wire.epoch;
  event.cpu = static_cast<unsigned>(wire.cpu);
  event.pid = static_cast<pid_t>(wire.pid);
  event.tid = static_cast<pid_t>(wire.tid);
  event.comm = std::move(wire.comm);
  event.tag = std::move(wire.tag).value_or("");
  auto source = std::make_shared<EventSource>();
  source->probe = std::move(wire.probe);
  source->session = std::move(wire.session);
  add_args(wire.args, *source, event);
  if (event.kind == EventKind::returned) add_result(wire, *source, event);
  event.source = std::move(source);
  auto stack = stack_of(wire.stack, wire.stack_by, wire.stack_end);
  if (!stack) return stack.error();
  if (*stack) event.stack = std::make_shared<const Stack>(std::move(**stack));
  return StreamItem{std::move(event)};
}

Result<StreamItem> lost_of(const LostNotification& wire) {
  const auto cause = loss_cause_named(wire.cause);
  if (!cause) return malformed("an unknown cause of loss");
  Lost lost{wire.ts, wire.count, *cause, std::nullopt};
  if (wire.cpu) {
    if (!fits<unsigned>(*wire.cpu)) return malformed("cpu is out of range");
    lost.cpu = static_cast<unsigned>(*wire.cpu);
  }
  return StreamItem{lost};
}

}  // namespace

void WallClock::sample() {
  // Read between two readings of the other clock, so that an interruption in between matters least.
  int64_t before = now_ns(CLOCK_BOOTTIME);
  int64_t wall = now_ns(CLOCK_REALTIME);
  int64_t after = now_ns(CLOCK_BOOTTIME);
  offset_ns_ = wall - before - (after - before) / 2;
}

void WallClock::append(std::string& out, uint64_t since_boot_ns) {
  char text[kMostBytes];
  out.append(text, write(text, since_boot_ns));
}

char* WallClock::write(char* to, uint64_t since_boot_ns) {
  // Added unsigned: an impossible time wraps around, without undefined behaviour.
  const auto wall = static_cast<int64_t>(since_boot_ns + static_cast<uint64_t>(offset_ns_));
  uint64_t fraction = static_cast<uint64_t>(wall) - static_cast<uint64_t>(second_begins_ns_);
  if (prefix_.empty() || fraction >= kNsPerSecond) {
    render_second(wall / kNsPerSecond - (wall % kNsPerSecond < 0));
    fraction = static_cast<uint64_t>(wall) - static_cast<uint64_t>(second_begins_ns_);
  }
  std::memcpy(to, prefix_.data(), prefix_.size());
  to += prefix_.size();
  auto digits = static_cast<uint32_t>(fraction);
  for (size_t i = 9; i-- > 0; digits /= 10) to[i] = static_cast<char>('0' + digits % 10);
  to[9] = 'Z';
  return to + 10;
}

void WallClock::render_second(int64_t second) {
  time_t time = second;
  tm parts{};
  ::gmtime_r(&time, &parts);
  char text[32];
  prefix_.assign(text, std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S.", &parts));
  second_begins_ns_ = static_cast<int64_t>(static_cast<uint64_t>(second) * kNsPerSecond);
}

void append_event(std::string& out, const Event& event, WallClock& wall,
                  std::string_view demangled) {
  append_field(out, "{\"ts\":", event.ts_ns);
  out += ",\"wall\":\"";
  wall.append(out, event.ts_ns);
  out += '"';
  append_event_head(out, event, demangled);
  append_args(out, event);
  if (event.call) append_call(out, *event.call);
  append_end(out, event);
  if (event.stack) append_stack(out, *event.stack);
  if (!event.tag.empty()) {
    out += ",\"tag\":";
    append_string(out, event.tag);
  }
  out += '}';
}

void append_event_head(std::string& out, const Event& event, std::string_view demangled) {
  append_field(out, ",\"epoch\":", event.epoch);
  out += ",\"session\":";
  append_string(out, event.source->session);
  append_field(out, ",\"cpu\":", event.cpu);
  append_field(out, ",\"pid\":", event.pid);
  append_field(out, ",\"tid\":", event.tid);
  out += ",\"comm\":";
  append_string(out, event.comm);
  out += ",\"probe\":";
  append_string(out, event.source->probe);
  if (!demangled.empty()) {
    out += ",\"demangled\":";
    append_string(out, demangled);
  }
  out += ",\"kind\":\"";
  out += name_of(event.kind);
  out += '"';
}

void append_lost(std::string& out, const Lost& lost, std::string_view session) {
  append_field(out, "{\"ts\":", lost.ts_ns);
  append_field(out, ",\"count\":", lost.count);
  out += ",\"cause\":\"";
  out += name_of(lost.cause);
  out += '"';
  if (lost.cpu) append_field(out, ",\"cpu\":", *lost.cpu);
  out += ",\"session\":";
  append_string(out, session);
  out += '}';
}

void append_event_line(std::string& out, const Event& event, WallClock& wall) {
  out += kEventBegins;
  append_event(out, event, wall);
  out += "}\n";
}

void append_probe_line(std::string& out, const EventSource& source) {
  out += notification_line(ProbeNotification::kMethod, to_json(described(source)));
}

void append_lost_line(std::string& out, const Lost& lost, std::string_view session) {
  out += kLostBegins;
  append_lost(out, lost, session);
  out += "}\n";
}

std::map<std::string, uint64_t> reported_in(std::string_view lines) {
  std::map<std::string, uint64_t> reported;
  while (!lines.empty()) {
    const std::string_view line = lines.substr(0, lines.find('\n'));
    lines.remove_prefix(std::min(line.size() + 1, lines.size()));
    const bool is_loss = line.starts_with(kLostBegins);
    if (!is_loss && !line.starts_with(kEventBegins)) continue;
    const auto message = nlohmann::json::parse(line, nullptr, false);
    if (message.is_discarded()) continue;
    const auto& params = message["params"];
    reported[params["session"].get<std::string>()] += is_loss ? params["count"].get<uint64_t>() : 1;
  }
  return reported;
}

bool is_event_or_loss(std::string_view line) {
  return line.starts_with(kEventBegins) || line.starts_with(kLostBegins);
}

std::optional<std::string_view> event_in(std::string_view line) {
  if (!line.starts_with(kEventBegins) || !line.ends_with("}}")) return std::nullopt;
  return line.substr(kEventBegins.size(), line.size() - kEventBegins.size() - 1);
}

// Within a text a quote has a backslash before it, so a comma and a quote begin a member, wherever they are in the object.
std::string_view probe_in(std::string_view event) {
  constexpr std::string_view kBegins = ",\"probe\":", kAfter = "\",\"";
  const size_t at = event.find(kBegins);
  if (at == event.npos) return {};
  const size_t begin = at + kBegins.size(), end = event.find(kAfter, begin);
  return end == event.npos ? std::string_view{} : event.substr(begin, end + 1 - begin);
}

bool has_stack(std::string_view event) { return event.find(",\"stack\":") != event.npos; }

std::string event_json(const Event& event, WallClock& wall) {
  std::string out;
  append_event(out, event, wall);
  return out;
}

std::string lost_json(const Lost& lost, std::string_view session) {
  std::string out;
  append_lost(out, lost, session);
  return out;
}

Result<StreamItem> parse_line(std::string_view line) {
  auto json = parse_json(line);
  if (!json) return json.error();
  const nlohmann::json& object = json->value();
  if (object.is_object() && object.contains("lost")) {
    auto lost = from_json<LostNotification>(json->part(object.at("lost")));
    return lost ? lost_of(*lost) : lost.error();
  }
  auto event = from_json<EventNotification>(*json);
  return event ? event_of(*std::move(event)) : event.error();
}

Result<StreamItem> parse_notification(const Notification& notification) {
  if (notification.method == EventNotification::kMethod) {
    auto wire = from_json<EventNotification>(notification.params);
    return wire ? event_of(*std::move(wire)) : wire.error().in("the peer's event");
  }
  if (notification.method == LostNotification::kMethod) {
    auto wire = from_json<LostNotification>(notification.params);
    return wire ? lost_of(*wire) : wire.error().in("the peer's loss");
  }
  return malformed("a method this program does not know");
}

}  // namespace tracectl::protocol
