// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "daemon/protocol/messages.h"

namespace tracectl {

// The arguments and the result of each probe and the fields that these lead to, a line each, of so many probes.
std::string types_text(const protocol::ProbeListReply& reply, size_t probes = SIZE_MAX);

}  // namespace tracectl
