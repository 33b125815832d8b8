// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <sys/types.h>

#include <utility>

namespace tracectl {

// A child that we forked. Destroying this object kills it.
class OwnChild {
 public:
  explicit OwnChild(pid_t pid) : pid_(pid) {}
  OwnChild(OwnChild&& other) noexcept : pid_(std::exchange(other.pid_, -1)) {}
  OwnChild& operator=(OwnChild&&) = delete;
  ~OwnChild();  // leaves errno as it was

  pid_t pid() const { return pid_; }

 private:
  pid_t pid_;
};

}  // namespace tracectl
