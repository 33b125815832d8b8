// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <string>

#include "daemon/base/result.h"
#include "daemon/protocol/messages.h"

namespace tracectl {

// Adds the types of arguments of those probes that a provider file declares and the request's patterns may name.
// Nothing if there is no path.
Status add_provider_types(const std::string& path, protocol::StageSet& request);

}  // namespace tracectl
