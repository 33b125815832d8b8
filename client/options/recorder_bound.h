// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <string>

#include "daemon/base/result.h"
#include "daemon/protocol/messages/parts.h"

namespace tracectl {

// The bounds of a flight recorder: `64M`, `10s`, or both, `64M,10s`. The unit is required, because it
// distinguishes the two. The engine checks the range.
Result<protocol::RecorderBoundPart> parse_recorder_bound(const std::string& text);

// The error in the text, or an empty string.
std::string check_recorder_bound(const std::string& text);

// The causes of an automatic dump of a flight recorder: `crash`, `signal:SIGNAL`, `exit:STATUS`, `failed:UNIT`.
Result<protocol::DumpOnPart> parse_dump_on(const std::vector<std::string>& causes);
std::string check_dump_on(const std::string& cause);

}  // namespace tracectl
