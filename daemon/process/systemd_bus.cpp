// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/process/systemd_bus.h"

#include <systemd/sd-bus.h>

#include <algorithm>
#include <utility>

#include "daemon/base/clock.h"

namespace tracectl {
namespace {

constexpr const char* kSystemd = "org.freedesktop.systemd1";
constexpr const char* kProperties = "org.freedesktop.DBus.Properties";
constexpr SystemdBus::Method kLoadUnit{"/org/freedesktop/systemd1",
                                       "org.freedesktop.systemd1.Manager", "LoadUnit"};

// The time left in microseconds, but never 0, which means a default timeout to sd-bus.
uint64_t us_until(uint64_t end_ns) {
  const uint64_t now_ns = boot_ns();
  return std::max<uint64_t>(end_ns > now_ns ? (end_ns - now_ns) / 1000 : 0, 1);
}

Error unreachable(int err) {
  Error error = Error::from_errno("reach systemd by the system's bus", -err);
  error.code = Code::unsupported;
  error.message += ": units are watched where systemd and dbus run";
  return error;
}

Error unanswered(const char* what) {
  return {Code::busy, std::string("systemd has not answered ") + what +
                          " in time: try again, and see whether systemctl status gets an answer"};
}

int call_back(sd_bus_message* message, void* data, sd_bus_error*) {
  // A copy: the callback may destroy the watch it belongs to.
  const auto callback = *static_cast<std::function<void(sd_bus_message&)>*>(data);
  callback(*message);
  return 0;
}

int report_lost(sd_bus_message*, void* data, sd_bus_error*) {
  const auto lost = *static_cast<std::function<void()>*>(data);
  lost();
  return 0;
}

}  // namespace

void SystemdBus::MessageDeleter::operator()(sd_bus_message* message) const {
  sd_bus_message_unref(message);
}

void SystemdBus::Watch::SlotDeleter::operator()(sd_bus_slot* slot) const {
  sd_bus_slot_unref(slot);
}

// Closes without a flush, which would wait for a bus that does not read.
void SystemdBus::BusDeleter::operator()(sd_bus* bus) const { sd_bus_close_unref(bus); }

Result<std::unique_ptr<SystemdBus>> SystemdBus::open(EventLoop& loop, std::function<void()> lost,
                                                     uint64_t end_ns) {
  sd_bus* opened = nullptr;
  if (int err = sd_bus_open_system_with_description(&opened, "tracectld"); err < 0)
    return unreachable(err);
  std::unique_ptr<SystemdBus> bus{new SystemdBus(opened)};
  bus->lost_ = std::move(lost);
  if (auto greeted = bus->greet(end_ns); !greeted) return greeted.error();
  const int err = sd_bus_match_signal(opened, nullptr, "org.freedesktop.DBus.Local",
                                      "/org/freedesktop/DBus/Local", "org.freedesktop.DBus.Local",
                                      "Disconnected", report_lost, &bus->lost_);
  if (err < 0) return unreachable(err);
  if (auto served = loop.serve(*opened); !served) return served.error();
  return bus;
}

// Completes the handshake. The first call would do this, too, but without a limit of time.
Status SystemdBus::greet(uint64_t end_ns) {
  for (;;) {
    const int done = sd_bus_process(bus_.get(), nullptr);
    if (done < 0) return unreachable(done);
    if (sd_bus_is_ready(bus_.get()) > 0) return ok();
    if (done > 0) continue;
    if (boot_ns() >= end_ns) return unreachable(-ETIMEDOUT);
    if (int err = sd_bus_wait(bus_.get(), us_until(end_ns)); err < 0 && err != -EINTR)
      return unreachable(err);
  }
}

Status SystemdBus::end_calls_at(uint64_t end_ns) {
  const int err = sd_bus_set_method_call_timeout(bus_.get(), us_until(end_ns));
  if (err < 0) return unreachable(err);
  return ok();
}

Result<SystemdBus::Message> SystemdBus::call(const Method& method,
                                             std::initializer_list<const char*> arguments,
                                             uint64_t end_ns) {
  sd_bus_message* made = nullptr;
  int err = sd_bus_message_new_method_call(bus_.get(), &made, kSystemd, method.object,
                                           method.interface, method.name);
  const Message message{made};
  for (const char* argument : arguments)
    if (err >= 0) err = sd_bus_message_append_basic(made, 's', argument);
  if (err < 0) return Error::from_errno(std::string("ask systemd, ") + method.name, -err);
  sd_bus_message* reply = nullptr;
  sd_bus_error said = SD_BUS_ERROR_NULL;
  err = sd_bus_call(bus_.get(), made, us_until(end_ns), &said, &reply);
  Message answer{reply};
  if (err >= 0) return answer;
  const std::string words = said.message ? said.message : "";
  sd_bus_error_free(&said);
  if (err == -ETIMEDOUT) return unanswered(method.name);
  if (err == -ECONNRESET || err == -ENOTCONN) return unreachable(err);
  return Error{Code::invalid, "systemd refuses " + std::string(method.name) + ": " + words};
}

Result<std::string> SystemdBus::object_of(const std::string& unit, uint64_t end_ns) {
  auto loaded = call(kLoadUnit, {unit.c_str()}, end_ns);
  if (!loaded) return loaded.error();
  const char* path = nullptr;
  if (const int err = sd_bus_message_read_basic(loaded->get(), 'o', &path); err < 0)
    return Error::from_errno("read what systemd answers", -err);
  return std::string(path);
}

Result<SystemdBus::Watch> SystemdBus::on_changes(const std::string& object,
                                                 std::function<void(sd_bus_message&)> callback,
                                                 uint64_t end_ns) {
  if (auto ending = end_calls_at(end_ns); !ending) return ending.error();
  Watch watch;
  watch.callback_ = std::make_unique<std::function<void(sd_bus_message&)>>(std::move(callback));
  sd_bus_slot* slot = nullptr;
  const int err = sd_bus_match_signal(bus_.get(), &slot, kSystemd, object.c_str(), kProperties,
                                      "PropertiesChanged", call_back, watch.callback_.get());
  if (err == -ETIMEDOUT) return unanswered("AddMatch");
  if (err < 0) return unreachable(err);
  watch.slot_.reset(slot);
  return watch;
}

Status check_loaded(const std::string& unit, const std::string& load_state) {
  if (load_state == "not-found")
    return Error{Code::not_found, "systemd knows no unit " + unit +
                                      ": systemctl list-unit-files lists those it can start; one "
                                      "made by systemd-run is there once it has been started"};
  if (load_state == "loaded") return ok();
  return Error{Code::invalid, "systemd cannot start the unit " + unit + ", which is " + load_state +
                                  ": see systemctl status " + unit};
}

}  // namespace tracectl
