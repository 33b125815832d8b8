// SPDX-License-Identifier: BSD-2-Clause
//
// What the doctor found of this kernel (daemon/kernel/doctor.h), kept for some seconds: to try the kernel takes
// processes and most of a second.
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>

#include "daemon/protocol/messages.h"

namespace tracectl {

// For several threads: those that ask while it is examined wait.
class Examination {
 public:
  protocol::DoctorReply last();

 private:
  struct Found {
    uint64_t at_ns;
    protocol::DoctorReply reply;
  };

  std::mutex mutex_;
  std::optional<Found> found_;
};

}  // namespace tracectl
