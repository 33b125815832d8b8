// SPDX-License-Identifier: BSD-2-Clause
//
// The doctor's findings about this kernel (daemon/kernel/doctor.h), cached for some seconds: to test the kernel
// takes child processes and most of a second.
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
