// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <string>

#include "daemon/base/result.h"
#include "daemon/protocol/messages/parts.h"

namespace tracectl {

// What a flight recorder holds: `64M`, `10s`, or both, `64M,10s`. A unit is a must, as no number says
// which of the two it is. The engine says what is too little or too much.
Result<protocol::RecorderBoundPart> parse_recorder_bound(const std::string& text);

// What is wrong with it, or nothing.
std::string check_recorder_bound(const std::string& text);

// What a flight recorder is dumped on by itself: `crash`, `failed:UNIT`.
Result<protocol::DumpOnPart> parse_dump_on(const std::vector<std::string>& causes);
std::string check_dump_on(const std::string& cause);

}  // namespace tracectl
