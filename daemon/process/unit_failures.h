// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "daemon/base/event_loop.h"
#include "daemon/base/result.h"
#include "daemon/process/systemd_bus.h"
#include "daemon/process/unit_failure.h"

namespace tracectl {

// "nginx.service" for "nginx", like systemctl(1).
std::string full_unit_name(const std::string& name);

// Watches units of the system's systemd over its bus, to which it is connected while there is a
// unit to watch. Used by the loop's thread, which calls to systemd block, for at most kLongestNs.
class UnitFailures {
 public:
  // A call to systemd takes a millisecond, and hundreds of them while it reloads its units. Other
  // work of this thread waits meanwhile, and must not be held up by a bus that hangs.
  static constexpr uint64_t kLongestNs = 1'000'000'000;

  using Failed = std::function<void(const UnitFailure&)>;
  // The bus connection ended, and nothing is reported until the next watch(); or a unit could not
  // be watched again.
  using Lost = std::function<void(const Error&)>;

  // The loop is borrowed.
  UnitFailures(EventLoop& loop, Failed failed, Lost lost);
  UnitFailures(const UnitFailures&) = delete;
  UnitFailures& operator=(const UnitFailures&) = delete;

  // Reports failures of these units from now on, by systemd's names for them, which are returned:
  // an alias has another name. Units that are watched already stay so. If it fails, some may be
  // watched. After the bus was lost this also resumes the former watches.
  Result<std::vector<std::string>> watch(const std::vector<std::string>& units);
  void forget_all_but(const std::set<std::string>& units);  // by names that watch() returned

 private:
  struct Unit {
    UnitState state;
    UnitHistory history;
    SystemdBus::Watch changes;
  };

  Status connect(uint64_t end_ns);
  Result<std::string> begin(const std::string& unit, uint64_t end_ns);
  void watch_again(uint64_t end_ns);
  void look_at(Unit& unit, sd_bus_message& changed);
  void lose();

  EventLoop& loop_;
  const Failed failed_;
  const Lost lost_;
  std::unique_ptr<SystemdBus> bus_;
  std::map<std::string, std::unique_ptr<Unit>> units_;  // by systemd's name for the unit
};

}  // namespace tracectl
