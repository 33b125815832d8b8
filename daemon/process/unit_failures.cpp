// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/process/unit_failures.h"

#include <systemd/sd-bus.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "daemon/base/clock.h"

namespace tracectl {
namespace {

constexpr const char* kUnitInterface = "org.freedesktop.systemd1.Unit";
constexpr SystemdBus::Method kSubscribe{"/org/freedesktop/systemd1",
                                        "org.freedesktop.systemd1.Manager", "Subscribe"};

// ---- properties: each returns 0 or more if it could be read, or a negative errno ----

int read_text(sd_bus_message& message, std::string& value) {
  const char* text = nullptr;
  const int done = sd_bus_message_read(&message, "v", "s", &text);
  if (done > 0) value = text;
  return done;
}

int read_number(sd_bus_message& message, int& value) {
  return sd_bus_message_read(&message, "v", "i", &value);
}

int read_pid(sd_bus_message& message, pid_t& pid) {
  uint32_t number = 0;
  const int done = sd_bus_message_read(&message, "v", "u", &number);
  pid = static_cast<pid_t>(number);
  return done;
}

int read_bytes(sd_bus_message& message, std::string& value) {
  const void* bytes = nullptr;
  size_t size = 0;
  int done = sd_bus_message_enter_container(&message, 'v', "ay");
  if (done > 0) done = sd_bus_message_read_array(&message, 'y', &bytes, &size);
  if (done < 0) return done;
  value.assign(static_cast<const char*>(bytes), size);
  return sd_bus_message_exit_container(&message);
}

int read_property(sd_bus_message& message, std::string_view name, UnitState& state) {
  if (name == "Id") return read_text(message, state.id);
  if (name == "LoadState") return read_text(message, state.load_state);
  if (name == "ActiveState") return read_text(message, state.active_state);
  if (name == "SubState") return read_text(message, state.sub_state);
  if (name == "InvocationID") return read_bytes(message, state.invocation_id);
  if (name == "Result") return read_text(message, state.result);
  if (name == "ExecMainPID") return read_pid(message, state.exec_main_pid);
  if (name == "ExecMainCode") return read_number(message, state.exec_main_code);
  if (name == "ExecMainStatus") return read_number(message, state.exec_main_status);
  return sd_bus_message_skip(&message, "v");
}

int read_properties(sd_bus_message& message, UnitState& state) {
  int done = sd_bus_message_enter_container(&message, 'a', "{sv}");
  while (done >= 0) {
    done = sd_bus_message_enter_container(&message, 'e', "sv");
    if (done <= 0) break;
    const char* name = nullptr;
    done = sd_bus_message_read_basic(&message, 's', &name);
    if (done >= 0) done = read_property(message, name, state);
    if (done >= 0) done = sd_bus_message_exit_container(&message);
  }
  return done;
}

// ---- calls to systemd ----

Result<UnitState> state_of(SystemdBus& bus, const std::string& object, uint64_t end_ns) {
  // An empty interface requests the properties of all interfaces.
  const SystemdBus::Method get{object.c_str(), "org.freedesktop.DBus.Properties", "GetAll"};
  auto properties = bus.call(get, {""}, end_ns);
  if (!properties) return properties.error();
  UnitState state;
  if (const int err = read_properties(**properties, state); err < 0)
    return Error::from_errno("read the properties of a unit", -err);
  return state;
}

}  // namespace

std::string full_unit_name(const std::string& name) {
  constexpr std::array kKinds{".service", ".socket", ".target", ".device", ".mount", ".automount",
                              ".swap",    ".timer",  ".path",   ".slice",  ".scope"};
  const bool is_full = std::any_of(kKinds.begin(), kKinds.end(),
                                   [&](const char* kind) { return name.ends_with(kind); });
  return is_full ? name : name + ".service";
}

UnitFailures::UnitFailures(EventLoop& loop, Failed failed, Lost lost)
    : loop_(loop), failed_(std::move(failed)), lost_(std::move(lost)) {}

Result<std::vector<std::string>> UnitFailures::watch(const std::vector<std::string>& units) {
  const uint64_t end_ns = boot_ns() + kLongestNs;
  if (auto connected = connect(end_ns); !connected) return connected.error();
  std::vector<std::string> names;
  for (const std::string& unit : units) {
    auto name = begin(full_unit_name(unit), end_ns);
    if (!name) return name.error();
    names.push_back(std::move(*name));
  }
  return names;
}

void UnitFailures::forget_all_but(const std::set<std::string>& units) {
  std::erase_if(units_, [&](const auto& one) { return !units.contains(one.first); });
  if (units_.empty()) bus_.reset();
}

// systemd sends no signals before a client has subscribed.
Status UnitFailures::connect(uint64_t end_ns) {
  if (bus_) return ok();
  auto bus = SystemdBus::open(
      loop_, [this] { lose(); }, end_ns);
  if (!bus) return bus.error();
  if (auto subscribed = (*bus)->call(kSubscribe, {}, end_ns); !subscribed)
    return subscribed.error();
  bus_ = std::move(*bus);
  watch_again(end_ns);
  return ok();
}

void UnitFailures::watch_again(uint64_t end_ns) {
  for (const auto& [name, unit] : std::exchange(units_, {}))
    if (auto begun = begin(name, end_ns); !begun)
      lost_(begun.error().in("watch " + name + " again"));
}

// Subscribes to signals first, so changes after the state was read are signalled.
Result<std::string> UnitFailures::begin(const std::string& name, uint64_t end_ns) {
  auto object = bus_->object_of(name, end_ns);
  if (!object) return object.error();
  auto unit = std::make_unique<Unit>();
  auto changes = bus_->on_changes(
      *object, [this, at = unit.get()](sd_bus_message& changed) { look_at(*at, changed); }, end_ns);
  if (!changes) return changes.error();
  auto state = state_of(*bus_, *object, end_ns);
  if (!state) return state.error();
  if (auto loaded = check_loaded(name, state->load_state); !loaded) return loaded.error();
  unit->state = std::move(*state);
  (void)unit->history.next(unit->state);  // earlier failures are not reported
  unit->changes = std::move(*changes);
  return units_.try_emplace(unit->state.id, std::move(unit)).first->first;
}

// systemd signals each change first for the service's own properties, then for those that all units
// have.
void UnitFailures::look_at(Unit& unit, sd_bus_message& changed) {
  const char* interface = nullptr;
  if (sd_bus_message_read_basic(&changed, 's', &interface) < 0) return;
  if (read_properties(changed, unit.state) < 0) return;
  if (std::string_view(interface) != kUnitInterface) return;
  // Must be the last call: it may drop the unit.
  if (const auto failure = unit.history.next(unit.state)) failed_(*failure);
}

void UnitFailures::lose() {
  for (auto& [name, unit] : units_) unit->changes = {};
  bus_.reset();
  lost_({Code::unsupported, "the connection to the system's bus has ended"});
}

}  // namespace tracectl
