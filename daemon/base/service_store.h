// SPDX-License-Identifier: BSD-2-Clause
//
// The store of descriptors that systemd has for a service (sd_pid_notify_with_fds(3), FDSTORE=). It survives the
// end of the process, also by a kill, and is emptied when the service is stopped.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/base/descriptor_store.h"

namespace tracectl {

// The name of a descriptor in systemd's store: "kept.NUMBER.NAME". The numbers count up, because systemd's own
// order changes with each reload. Descriptors that systemd passes under other names, such as sockets, do not
// belong to the store.
struct StoredName {
  uint64_t number = 0;
  std::string name;

  // None if it is no such name.
  static std::optional<StoredName> read(std::string_view text);
  std::string text() const;
  auto operator<=>(const StoredName&) const = default;
};

class ServiceStore : public DescriptorStore {
 public:
  struct Stored {
    StoredName name;
    Fd fd;
  };
  // Room for states: those of the engine and of the sessions, each twice while a new one replaces the old, and those
  // that a killed daemon left.
  static constexpr size_t kReserved = 16;

  // `most`: how many descriptors systemd keeps (FileDescriptorStoreMax=); it drops more without telling us. None if
  // that is not known.
  explicit ServiceStore(std::vector<Stored> passed, std::optional<size_t> most = std::nullopt);

  // Fails if systemd would not take the name, or would drop the descriptor.
  Status save(const std::string& name, int fd) override;
  Status save_state(const std::string& name, int fd) override;
  void forget(const std::string& name) override;
  void wait_until_forgotten() override;
  std::vector<SavedDescriptor> take(std::string_view prefix) override;
  std::vector<SavedDescriptor> look(std::string_view prefix) const override;

  // Drops all descriptors that were not taken.
  void forget_untaken();

 private:
  Status put(const std::string& name, int fd, size_t reserved);

  std::optional<size_t> most_;
  std::vector<Stored> passed_;     // by systemd, and not taken
  std::set<StoredName> in_store_;  // by the order in which they were kept
  bool any_forgotten_ = false;     // since the last call of wait_until_forgotten()
  uint64_t next_number_ = 1;
};

// Null in a process that systemd has not started. Has what systemd passed, to be taken. $FDSTORE says how much systemd
// keeps (since systemd 254); for older ones the unit sets $TRACECTLD_FDSTORE.
Result<std::unique_ptr<ServiceStore>> open_service_store();

}  // namespace tracectl
