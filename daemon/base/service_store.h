// SPDX-License-Identifier: BSD-2-Clause
//
// The store of descriptors that systemd has for a service (sd_pid_notify_with_fds(3), FDSTORE=): it outlives
// the process, also one that is killed, and is emptied when the service is stopped.
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

// Under such a name systemd has a descriptor in its store: "kept.NUMBER.NAME". The numbers count up, as
// systemd's own order is another after each reload. What systemd passes under any other name, such as a
// socket, is none of the store's.
struct StoredName {
  uint64_t number = 0;
  std::string name;

  // None: it is no such name.
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
  // For states: those of the engine and of the sessions, each twice while one follows another, and what a daemon
  // that was killed has left of them.
  static constexpr size_t kReserved = 16;

  // `most`: as many descriptors systemd keeps (FileDescriptorStoreMax=), and drops what is more without a word to
  // us; none: it is not known.
  explicit ServiceStore(std::vector<Stored> passed, std::optional<size_t> most = std::nullopt);

  // Fails for a name that systemd would not take, and where it would drop the descriptor.
  Status keep(const std::string& name, int fd) override;
  Status keep_state(const std::string& name, int fd) override;
  void forget(const std::string& name) override;
  void wait_until_forgotten() override;
  std::vector<KeptDescriptor> take(std::string_view prefix) override;
  std::vector<KeptDescriptor> look(std::string_view prefix) const override;

  // What nobody has taken is nobody's: the store lets go of it.
  void forget_untaken();

 private:
  Status put(const std::string& name, int fd, size_t reserved);

  std::optional<size_t> most_;
  std::vector<Stored> passed_;     // and not taken
  std::set<StoredName> in_store_;  // by the order in which they were kept
  bool any_forgotten_ = false;     // since the last wait
  uint64_t next_number_ = 1;
};

// Null in a process that systemd has not started. What it has passed is there to be taken. How much it keeps says
// $FDSTORE (systemd 254), before that what the unit says beside it, $TRACECTLD_FDSTORE.
Result<std::unique_ptr<ServiceStore>> open_service_store();

}  // namespace tracectl
