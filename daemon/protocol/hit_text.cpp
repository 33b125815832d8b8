// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/protocol/hit_text.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>

#include "daemon/model/number.h"
#include "daemon/protocol/json_text.h"

namespace tracectl::protocol {
namespace {

constexpr std::string_view kTimeBegins = "{\"ts\":", kWallBegins = ",\"wall\":\"", kEnds = "]}";
constexpr size_t kMostNumberBytes = 25;  // with a comma
constexpr size_t kMostTimeBytes =
    kTimeBegins.size() + kMostNumberBytes + kWallBegins.size() + WallClock::kMostBytes;

const Argument kPlainNumber;  // an unsigned 64-bit integer

char* put(char* to, std::string_view text) {
  std::memcpy(to, text.data(), text.size());
  return to + text.size();
}

template <std::integral T> char* put(char* to, T number) {
  return std::to_chars(to, to + kMostNumberBytes, number).ptr;
}

char* put(char* to, std::floating_point auto number) {
  if (std::isfinite(number)) return std::to_chars(to, to + kMostNumberBytes, number).ptr;
  std::string name;
  append_float(name, number);
  return put(to, std::string_view(name));
}

char* put_typed(char* to, const Argument& type, uint64_t bits) {
  return std::visit([&](auto number) { return put(to, number); }, number_of(type, bits));
}

char* put_arguments(char* to, const PlainHit& hit, bool all_unsigned) {
  const Arguments& types = (*hit.source)->arguments;
  for (size_t i = 0; i < hit.arg_count; ++i) {
    if (i) *to++ = ',';
    if (!(hit.readable >> i & 1))
      to = put(to, std::string_view("null"));
    else if (all_unsigned)
      to = put(to, hit.args[i]);
    else
      to = put_typed(to, i < types.size() ? types[i] : kPlainNumber, hit.args[i]);
  }
  return to;
}

bool is_plain_number(const Argument& type) {
  return !type.is_float && !type.is_signed && type.size_bytes == 8;
}

}  // namespace

bool HitText::Common::is_of(const PlainHit& hit) const {
  return tid == hit.tid && source.get() == hit.source->get() && cpu == hit.cpu && pid == hit.pid &&
         epoch == hit.epoch && comm == hit.comm;
}

void HitText::append(std::string& out, const PlainHit& hit, WallClock& wall) {
  const Common& common = common_of(hit);
  const size_t before = out.size();
  out.resize(before + kMostTimeBytes + common.text.size() + hit.arg_count * kMostNumberBytes +
             kEnds.size());
  char* at = put(out.data() + before, kTimeBegins);
  at = put(at, hit.ts_ns);
  at = put(at, kWallBegins);
  at = wall.write(at, hit.ts_ns);
  at = put(at, std::string_view(common.text));
  at = put_arguments(at, hit, common.all_unsigned);
  at = put(at, kEnds);
  out.resize(static_cast<size_t>(at - out.data()));
}

void HitText::append_line(std::string& out, const PlainHit& hit, WallClock& wall) {
  out += kEventBegins;
  append(out, hit, wall);
  out += "}\n";
}

const HitText::Common& HitText::common_of(const PlainHit& hit) {
  const uint64_t thread = static_cast<uint64_t>(hit.tid);
  const uint64_t probe = reinterpret_cast<uintptr_t>(hit.source->get()) >> 4;
  Common& common = recent_[((thread * 31 + probe) * 0x9e3779b97f4a7c15) >> 58];
  if (!common.is_of(hit)) render(common, hit);
  return common;
}

void HitText::render(Common& common, const PlainHit& hit) const {
  const EventSource& source = **hit.source;
  common.source = *hit.source;
  common.epoch = hit.epoch;
  common.cpu = hit.cpu;
  common.pid = hit.pid;
  common.tid = hit.tid;
  common.comm = hit.comm;
  common.all_unsigned = std::ranges::all_of(source.arguments, is_plain_number);
  common.text.clear();
  common.text += '"';
  append_event_head(common.text, event_of(hit),
                    demangle_ ? demangle_(source.probe) : std::string_view{});
  common.text += ",\"args\":[";
}

}  // namespace tracectl::protocol
