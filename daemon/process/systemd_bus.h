// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <string>

#include "daemon/base/event_loop.h"
#include "daemon/base/result.h"

struct sd_bus;
struct sd_bus_message;
struct sd_bus_slot;

namespace tracectl {

// A connection to the system bus, for calls to its systemd. Functions with an `end_ns`, of
// boot_ns(), block until then at most, and fail then.
class SystemdBus {
 public:
  // `lost` is called once, by the loop, when the connection ends; it may destroy this.
  static Result<std::unique_ptr<SystemdBus>> open(EventLoop& loop, std::function<void()> lost,
                                                  uint64_t end_ns);

  struct MessageDeleter {
    void operator()(sd_bus_message* message) const;
  };
  using Message = std::unique_ptr<sd_bus_message, MessageDeleter>;

  struct Method {
    const char* object;  // its path
    const char* interface;
    const char* name;
  };
  // Returns the reply. Arguments are strings.
  Result<Message> call(const Method& method, std::initializer_list<const char*> arguments,
                       uint64_t end_ns);

  // The object of the unit with this name. systemd loads the unit if it has not yet.
  Result<std::string> object_of(const std::string& unit, uint64_t end_ns);

  // The loop calls back while it lives. The callback may destroy its own watch.
  class Watch {
   private:
    friend class SystemdBus;
    struct SlotDeleter {
      void operator()(sd_bus_slot* slot) const;
    };
    std::unique_ptr<std::function<void(sd_bus_message&)>> callback_;
    std::unique_ptr<sd_bus_slot, SlotDeleter> slot_;
  };
  // Calls back for each signal PropertiesChanged of one of systemd's objects.
  Result<Watch> on_changes(const std::string& object, std::function<void(sd_bus_message&)> callback,
                           uint64_t end_ns);

 private:
  struct BusDeleter {
    void operator()(sd_bus* bus) const;
  };
  explicit SystemdBus(sd_bus* bus) : bus_(bus) {}
  Status greet(uint64_t end_ns);
  Status end_calls_at(uint64_t end_ns);

  std::unique_ptr<sd_bus, BusDeleter> bus_;
  std::function<void()> lost_;
};

// Whether the unit can be started, by its property LoadState.
Status check_loaded(const std::string& unit, const std::string& load_state);

}  // namespace tracectl
