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

// nginx.service of nginx, as systemctl(1) takes names.
std::string full_unit_name(const std::string& name);

// Watches units of the system's systemd by its bus, to which it is connected while there is a unit to
// watch. Used by the loop's thread, which asking systemd holds up, for at most kLongestNs.
class UnitFailures {
 public:
  // A call to systemd takes a millisecond, and hundreds of them while it reloads its units. Whoever
  // else wants something of this thread waits meanwhile, and is not to notice a bus that stands still.
  static constexpr uint64_t kLongestNs = 1'000'000'000;

  using Failed = std::function<void(const UnitFailure&)>;
  // The bus is gone, and until the next watch() nothing is told; or a unit could not be watched anew.
  using Lost = std::function<void(const Error&)>;

  // The loop is borrowed.
  UnitFailures(EventLoop& loop, Failed failed, Lost lost);
  UnitFailures(const UnitFailures&) = delete;
  UnitFailures& operator=(const UnitFailures&) = delete;

  // From now on their failures are told, by systemd's names of them, which are returned: that of an
  // alias is another one. Watching one that is watched already changes nothing. Where it fails, some may
  // be watched. After the bus was lost this watches all that were watched, too.
  Result<std::vector<std::string>> watch(const std::vector<std::string>& units);
  void forget_all_but(const std::set<std::string>& units);  // names that watch() has returned

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
  std::map<std::string, std::unique_ptr<Unit>> units_;  // by systemd's name
};

}  // namespace tracectl
