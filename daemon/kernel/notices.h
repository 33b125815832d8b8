// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <utility>
#include <vector>

#include "bpf/abi.h"
#include "daemon/base/result.h"
#include "daemon/kernel/ring.h"

namespace tracectl {

// The ring in which the BPF programs report everything except the events of sessions.
class Notices {
 public:
  // `fd` is borrowed for the call.
  static Result<Notices> open(int fd);

  // The notices that have come, the oldest first.
  std::vector<tc_notice> take();

 private:
  explicit Notices(Ring ring) : ring_(std::move(ring)) {}

  Ring ring_;
};

}  // namespace tracectl
