// SPDX-License-Identifier: BSD-2-Clause
//
// The daemon's own counters in the text format of Prometheus
// (https://prometheus.io/docs/instrumenting/exposition_formats/), under the names that tracectl-prometheus(8)
// uses.
#pragma once

#include <string>

#include "daemon/protocol/messages.h"

namespace tracectl {

std::string metrics_text(const protocol::StatusReply& status, const protocol::StatsReply& stats);

}  // namespace tracectl
