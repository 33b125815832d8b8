// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <string>

#include "daemon/protocol/messages/staging.h"

namespace tracectl {

// What the probes take from the program, if the kernel has to single-step: "about 16.9 us a call: 3 of 4 exits are
// single-stepped". Else empty.
std::string hit_estimate_text(const protocol::CommitReply& reply);

}  // namespace tracectl
