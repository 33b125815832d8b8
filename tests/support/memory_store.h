// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <fcntl.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "daemon/base/descriptor_store.h"

namespace tracectl::on_kernel {

// Keeps descriptors from one engine to the next, as systemd does for daemons.
class MemoryStore final : public DescriptorStore {
 public:
  Status save(const std::string& name, int fd) override {
    if (refuses) return Error{Code::exhausted, "the store is full"};
    kept_.push_back({name, duplicate(fd)});
    return ok();
  }
  void forget(const std::string& name) override {
    std::erase_if(kept_, [&](SavedDescriptor& one) {
      if (one.name != name) return false;
      if (is_late) forgotten_.push_back(std::move(one));
      return true;
    });
  }
  void wait_until_forgotten() override { forgotten_.clear(); }
  std::vector<SavedDescriptor> take(std::string_view prefix) override { return look(prefix); }
  std::vector<SavedDescriptor> look(std::string_view prefix) const override {
    std::vector<SavedDescriptor> seen;
    for (const SavedDescriptor& one : kept_)
      if (one.name.starts_with(prefix)) seen.push_back({one.name, duplicate(one.fd.get())});
    return seen;
  }

  void forget_all(std::string_view prefix) {
    std::erase_if(kept_, [&](const SavedDescriptor& one) { return one.name.starts_with(prefix); });
  }
  size_t size(std::string_view prefix) const {
    size_t count = 0;
    for (const SavedDescriptor& one : kept_) count += one.name.starts_with(prefix);
    return count;
  }

  bool refuses = false;
  bool is_late = false;  // closes forgotten ones only when somebody waits, as systemd may

 private:
  static Fd duplicate(int fd) { return Fd{::fcntl(fd, F_DUPFD_CLOEXEC, 0)}; }

  std::vector<SavedDescriptor> kept_, forgotten_;
};

}  // namespace tracectl::on_kernel
