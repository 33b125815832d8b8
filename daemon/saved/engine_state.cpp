// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/saved/engine_state.h"

#include <algorithm>
#include <bitset>

#include "daemon/base/binary.h"
#include "daemon/sandbox/wire.h"

namespace tracectl {
namespace {

// Change it also when specs are assembled differently: counters continue under the numbers of aggregates.
constexpr uint32_t kVersion = 11;
constexpr size_t kMostBytes = 256 << 20;
// Every item takes a byte at least, so the bytes bound them: what could be written can be read.
constexpr binary::Bounds kBounds{
    .items = kMostBytes, .items_of_list = kMostBytes, .text_bytes = 512 << 10};

bool read(binary::Reader& from, EngineState& state) {
  uint32_t version = 0;
  if (!from.read(version)) return false;
  return version == kVersion && from.read(state) && from.at_end();
}

// ---- whether it is possible ----

bool are_sound(const std::map<std::string, uint32_t>& layouts) {
  std::bitset<TC_MAX_LAYOUTS> places;
  for (const auto& [text, place] : layouts) {
    if (place == 0 || place >= places.size() || places[place]) return false;
    places.set(place);
  }
  return true;
}

bool is_sound(const SlotState& slot, const EngineState& state) {
  return slot.id < TC_MAX_SLOTS && slot.object < state.objects.size() && slot.key.filter >= 0;
}

// It names a function that a program has called, in a file as it was mapped: nobody has written it as a pattern, and
// many could not be, as a path with a colon.
bool is_sound(const Pattern& grown) {
  return grown.kind == ProbeKind::function && !grown.object.empty() && !grown.function.empty();
}

bool is_sound(const SettingState& setting) {
  return std::ranges::all_of(setting.grown, [](const Pattern& one) { return is_sound(one); });
}

// Its probes are checked like an answer of a process that reads files.
bool is_sound(const PartState& part, const SessionState& session, const EngineState& state) {
  if (part.object >= state.objects.size() || part.of >= session.settings.size()) return false;
  if (part.pid < 0 || !part.probes) return false;
  const ObjectState& object = state.objects[part.object];
  const auto are_of = [&](ProbeKind kind) {
    const auto size_bytes = static_cast<uint64_t>(object.identity.size);
    return wire::are_possible(*part.probes, {object.path, size_bytes, kind});
  };
  return are_of(ProbeKind::function) || are_of(ProbeKind::usdt) || are_of(ProbeKind::line);
}

bool is_sound(const WantState& want, const SessionState& session) {
  if (want.part >= session.parts.size()) return false;
  const auto& probes = *session.parts[want.part].probes;
  return want.probe < probes.size() && want.site < probes[want.probe].sites.size() &&
         want.saved.stat < TC_MAX_STATS && want.saved.set_target <= TC_MAX_SET_TARGETS;
}

bool is_sound(const SessionState& session, const EngineState& state) {
  const auto all_of = [](const auto& all, const auto&... of) {
    return std::ranges::all_of(all, [&](const auto& one) { return is_sound(one, of...); });
  };
  return session.id < TC_MAX_SESSIONS && session.tags.size() < TC_MAX_TAGS &&
         all_of(session.settings) && all_of(session.parts, session, state) &&
         std::ranges::all_of(session.wants,
                             [&](const SlotWantsState& at) { return all_of(at.wants, session); });
}

bool is_sound(const EngineState& state) {
  const auto is_of_it = [&](const auto& one) { return is_sound(one, state); };
  return are_sound(state.layouts) &&
         std::ranges::all_of(state.objects,
                             [](const ObjectState& one) { return one.identity.size >= 0; }) &&
         std::ranges::all_of(state.slots, is_of_it) &&
         std::ranges::all_of(state.sessions, is_of_it);
}

}  // namespace

std::string encode(const EngineState& state) {
  std::string bytes;
  binary::Writer to(bytes);
  to.write(kVersion);
  to.write(state);
  return bytes;
}

Result<EngineState> decode_engine_state(std::string_view bytes) {
  EngineState state;
  binary::Reader from(bytes, kBounds);
  if (bytes.size() <= kMostBytes && read(from, state) && is_sound(state)) return state;
  return Error{Code::invalid, "the state that a former daemon has left cannot be read"};
}

}  // namespace tracectl
