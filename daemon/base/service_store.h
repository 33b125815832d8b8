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
  explicit ServiceStore(std::vector<Stored> passed);

  // Fails for a name that systemd would not take. Does not tell of a store that is full: only systemd's
  // log does (FileDescriptorStoreMax=).
  Status keep(const std::string& name, int fd) override;
  void forget(const std::string& name) override;
  std::vector<KeptDescriptor> take(std::string_view prefix) override;
  std::vector<KeptDescriptor> look(std::string_view prefix) const override;

  // What nobody has taken is nobody's: the store lets go of it.
  void forget_untaken();

 private:
  std::vector<Stored> passed_;     // and not taken
  std::set<StoredName> in_store_;  // by the order in which they were kept
  uint64_t next_number_ = 1;
};

// Null in a process that systemd has not started. What it has passed is there to be taken.
Result<std::unique_ptr<ServiceStore>> open_service_store();

}  // namespace tracectl
