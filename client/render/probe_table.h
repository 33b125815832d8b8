// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "daemon/protocol/messages.h"

namespace tracectl {

// What can be traced; at most so many rows.
std::string probes_text(const protocol::ProbeListReply& reply, size_t rows = SIZE_MAX);

}  // namespace tracectl
