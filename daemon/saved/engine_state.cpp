// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/saved/engine_state.h"

#include <bit>
#include <bitset>

#include "daemon/sandbox/wire.h"
#include "daemon/sandbox/wire_parts.h"
#include "daemon/saved/past_state.h"

namespace tracectl {
namespace {

using recording::ByteReader;
using recording::ByteWriter;
using wire::read_enum;
using wire::read_text;

// Change it also when specs are assembled differently: counters continue under the numbers of aggregates.
constexpr uint32_t kVersion = 2;
constexpr size_t kMostItems = 1 << 20;
constexpr size_t kMostText = 64 << 10;
constexpr size_t kMostBytes = 256 << 20;

// ---- writing ----

class Writer {
 public:
  explicit Writer(std::string& bytes) : to_(bytes) {}

  void write(const EngineState& state) {
    numbers(kVersion, state.epoch, state.ring_bytes, state.last_source, state.last_serial,
            state.last_pair, state.last_incarnation);
    to_.varint(state.layouts.size());
    for (const auto& [text, index] : state.layouts) {
      to_.text(text);
      to_.varint(index);
    }
    list(state.objects);
    list(state.slots);
    list(state.sessions);
  }

 private:
  template <class... Numbers> void numbers(Numbers... each) {
    (to_.varint(static_cast<uint64_t>(each)), ...);
  }
  template <class T> void list(const std::vector<T>& all) {
    to_.varint(all.size());
    for (const T& one : all) write(one);
  }

  void write(const std::string& text) { to_.text(text); }
  void write(const LeftOut& one) {
    to_.text(one.load.probe);
    to_.fixed(static_cast<uint8_t>(one.load.cost));
    for (const double value : {one.load.hits_per_second, one.load.percent, one.budget})
      to_.fixed(std::bit_cast<uint64_t>(value));
    numbers(one.others);
  }
  void write(const timespec& time) { numbers(recording::zigzag(time.tv_sec), time.tv_nsec); }
  void write(const std::optional<std::string>& text) {
    to_.fixed(static_cast<uint8_t>(text.has_value()));
    if (text) to_.text(*text);
  }
  void write(const Pattern& pattern) {
    to_.fixed(static_cast<uint8_t>(pattern.scope));
    to_.text(to_string(pattern));
  }
  void write(const SettingState& setting) {
    to_.text(setting.said);
    list(setting.unit_cgroups);
    list(setting.grown);
  }
  void write(const ObjectState& object) {
    const FileIdentity& file = object.identity;
    numbers(object.number, object.facts.has_unwind_table, file.device, file.inode, file.size);
    write(file.modified);
    write(file.changed);
    to_.text(object.path);
    to_.text(object.facts.build_id);
  }
  void write(const SlotState& slot) {
    const SlotKey& key = slot.key;
    numbers(slot.id, key.device, key.inode, key.filter, key.filter_birth, key.offset, key.semaphore,
            slot.object, slot.nop5);
  }
  void write(const PartState& part) {
    numbers(part.object, part.of, part.of_one_file, part.sides, part.pid, part.birth,
            part.unmapped);
    to_.fixed(static_cast<uint8_t>(part.what));
    to_.fixed(static_cast<uint8_t>(part.follow));
    write(part.executable);
    write(part.cgroup);
    to_.text(wire::encode(Result<ProbeMatch>(ProbeMatch{*part.probes, {}})));
  }
  void write(const WantState& want) {
    const FormerHook& former = want.former;
    numbers(want.part, want.probe, want.site, want.sides, former.stat, former.source, former.pair,
            former.serial, former.set_target);
  }
  void write(const SlotWantsState& at) {
    numbers(at.slot);
    list(at.wants);
  }
  void write(const SessionState& session) {
    to_.text(session.name);
    numbers(session.id, session.epoch, session.paused, session.gated, session.is_dumped,
            session.marks, session.has_rings);
    list(session.tags);
    list(session.settings);
    list(session.left_out);
    list(session.parts);
    list(session.wants);
    write_past(session.past, to_);
  }

  ByteWriter to_;
};

// ---- reading ----

class Reader {
 public:
  explicit Reader(std::string_view bytes) : from_(bytes) {}

  bool read(EngineState& state) {
    uint32_t version = 0;
    if (!numbers(version) || version != kVersion) return false;
    return numbers(state.epoch, state.ring_bytes, state.last_source, state.last_serial,
                   state.last_pair, state.last_incarnation) &&
           read_layouts(state.layouts) && list(state.objects) && list_of_slots(state) &&
           list_of_sessions(state) && from_.at_end();
  }

 private:
  bool number(uint64_t& value) { return value = from_.varint(), !from_.failed(); }
  bool number(uint32_t& value) { return value = from_.small<uint32_t>(), !from_.failed(); }
  bool number(uint16_t& value) { return value = from_.small<uint16_t>(), !from_.failed(); }
  bool number(int32_t& value) {
    value = static_cast<int32_t>(from_.small<uint32_t>());
    return !from_.failed() && value >= 0;
  }
  bool number(int64_t& value) {
    value = static_cast<int64_t>(from_.varint());
    return !from_.failed() && value >= 0;
  }
  bool number(bool& value) { return value = from_.varint() != 0, !from_.failed(); }
  template <class... Numbers> bool numbers(Numbers&... each) { return (number(each) && ...); }

  bool text(std::string& value) { return value = read_text(from_, kMostText), !from_.failed(); }

  template <class T> bool list(std::vector<T>& all) {
    const uint64_t count = from_.varint();
    if (from_.failed() || count > kMostItems) return false;
    for (uint64_t i = 0; i < count; ++i)
      if (!read(all.emplace_back())) return false;
    return true;
  }

  bool read_layouts(std::map<std::string, uint32_t>& layouts) {
    const uint64_t count = from_.varint();
    if (from_.failed() || count >= TC_MAX_LAYOUTS) return false;
    std::bitset<TC_MAX_LAYOUTS> places;
    for (uint64_t i = 0; i < count; ++i) {
      std::string key;
      uint32_t place = 0;
      if (!text(key) || !numbers(place) || place == 0 || place >= places.size()) return false;
      if (places[place]) return false;
      places.set(place);
      layouts.emplace(std::move(key), place);
    }
    return layouts.size() == count;
  }

  bool list_of_slots(EngineState& state) {
    if (!list(state.slots)) return false;
    for (const SlotState& slot : state.slots)
      if (slot.id >= TC_MAX_SLOTS || slot.object >= state.objects.size()) return false;
    return true;
  }

  bool list_of_sessions(EngineState& state) {
    objects_ = &state.objects;
    if (!list(state.sessions)) return false;
    for (const SessionState& session : state.sessions)
      if (session.id >= TC_MAX_SESSIONS || session.tags.size() >= TC_MAX_TAGS ||
          !are_sound(session))
        return false;
    return true;
  }

  static bool are_sound(const SessionState& session) {
    for (const PartState& part : session.parts)
      if (part.of >= session.settings.size()) return false;
    for (const SlotWantsState& at : session.wants)
      for (const WantState& want : at.wants) {
        if (want.part >= session.parts.size() || want.former.stat >= TC_MAX_STATS) return false;
        const auto& probes = *session.parts[want.part].probes;
        if (want.probe >= probes.size() || want.site >= probes[want.probe].sites.size())
          return false;
        if (want.former.set_target > TC_MAX_SET_TARGETS) return false;
      }
    return true;
  }

  bool read(std::string& value) { return text(value); }
  bool read(LeftOut& one) {
    if (!text(one.load.probe) || !read_enum(from_, one.load.cost, CostClass::slow)) return false;
    for (double* value : {&one.load.hits_per_second, &one.load.percent, &one.budget})
      *value = std::bit_cast<double>(from_.fixed<uint64_t>());
    return numbers(one.others);
  }
  bool read(timespec& time) {
    time.tv_sec = recording::unzigzag(from_.varint());
    return number(time.tv_nsec);
  }
  bool read(std::optional<std::string>& value) {
    return from_.fixed<uint8_t>() ? text(value.emplace()) : !from_.failed();
  }
  bool read(Pattern& pattern) {
    Scope scope{};
    std::string said;
    if (!read_enum(from_, scope, Scope::global) || !text(said)) return false;
    auto parsed = parse_pattern(said, scope);
    if (parsed) pattern = std::move(*parsed);
    return parsed.has_value();
  }
  bool read(SettingState& setting) {
    return text(setting.said) && list(setting.unit_cgroups) && list(setting.grown);
  }
  bool read(ObjectState& object) {
    FileIdentity& file = object.identity;
    return numbers(object.number, object.facts.has_unwind_table, file.device, file.inode,
                   file.size) &&
           read(file.modified) && read(file.changed) && text(object.path) &&
           text(object.facts.build_id);
  }
  bool read(SlotState& slot) {
    SlotKey& key = slot.key;
    return numbers(slot.id, key.device, key.inode, key.filter, key.filter_birth, key.offset,
                   key.semaphore, slot.object, slot.nop5);
  }
  bool read(PartState& part) {
    return numbers(part.object, part.of, part.of_one_file, part.sides, part.pid, part.birth,
                   part.unmapped) &&
           part.object < objects_->size() && read_enum(from_, part.what, Beside::callees) &&
           read_enum(from_, part.follow, Follow::first_child) && read(part.executable) &&
           read(part.cgroup) && read_probes(part);
  }
  // Decodes and checks them like an answer of a process that reads files.
  bool read_probes(PartState& part) {
    const std::string_view coded = from_.text();
    if (from_.failed()) return false;
    const ObjectState& object = (*objects_)[part.object];
    for (const ProbeKind kind : {ProbeKind::function, ProbeKind::usdt}) {
      auto match = wire::decode_match(
          coded, {object.path, static_cast<uint64_t>(object.identity.size), kind});
      if (!match) continue;
      part.probes = std::make_shared<const std::vector<Probe>>(std::move(match->probes));
      return true;
    }
    return false;
  }
  bool read(WantState& want) {
    FormerHook& former = want.former;
    return numbers(want.part, want.probe, want.site, want.sides, former.stat, former.source,
                   former.pair, former.serial, former.set_target);
  }
  bool read(SlotWantsState& at) { return numbers(at.slot) && list(at.wants); }
  bool read(SessionState& session) {
    return text(session.name) &&
           numbers(session.id, session.epoch, session.paused, session.gated, session.is_dumped,
                   session.marks, session.has_rings) &&
           list(session.tags) && list(session.settings) && list(session.left_out) &&
           list(session.parts) && list(session.wants) && read_past(from_, session.past);
  }

  ByteReader from_;
  const std::vector<ObjectState>* objects_ = nullptr;
};

}  // namespace

std::string encode(const EngineState& state) {
  std::string bytes;
  Writer(bytes).write(state);
  return bytes;
}

Result<EngineState> decode_engine_state(std::string_view bytes) {
  EngineState state;
  if (bytes.size() <= kMostBytes && Reader(bytes).read(state)) return state;
  return Error{Code::invalid, "the state that a former daemon has left cannot be read"};
}

}  // namespace tracectl
