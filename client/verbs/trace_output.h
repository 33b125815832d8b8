// SPDX-License-Identifier: BSD-2-Clause
//
// Where the events of a trace go, for verbs that trace. Both return the exit status.
#pragma once

#include "client/verbs/trace_options.h"

namespace tracectl {

// To standard output; at the end, what was counted beside them.
int print_events(const CommonOptions& common, const TraceOptions& options);
// To options.record.
int record_events(const CommonOptions& common, const TraceOptions& options);

}  // namespace tracectl
