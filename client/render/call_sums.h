// SPDX-License-Identifier: BSD-2-Clause
//
// Sums of calls for programs.
#pragma once

#include "client/render/call_tree.h"
#include "daemon/protocol/call_sums.h"

namespace tracectl {

protocol::CallSumsPart sums_of(const CallTree& calls, bool with_tree);
protocol::CallChangesPart compared(const CallTree& before, const CallTree& after);

}  // namespace tracectl
