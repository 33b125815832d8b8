// SPDX-License-Identifier: BSD-2-Clause
//
// What the doctor found of this kernel (daemon/kernel/doctor.h), kept for some seconds: to try the kernel takes
// processes and most of a second.
#pragma once

#include <cstdint>
#include <optional>

#include "daemon/protocol/messages.h"

namespace tracectl {

class Examination {
 public:
  protocol::DoctorReply last();

 private:
  struct Found {
    uint64_t at_ns;
    protocol::DoctorReply reply;
  };

  std::optional<Found> found_;
};

}  // namespace tracectl
