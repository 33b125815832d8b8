// SPDX-License-Identifier: BSD-2-Clause
//
// Uprobes by perf events, one a site: the way of kernels that have no uprobe_multi link (before Linux 6.6).
// Source of the attributes: Documentation/trace/uprobetracer.rst and kernel/events/core.c (perf_uprobe).
#pragma once

#include <vector>

#include "daemon/base/fd.h"
#include "daemon/base/result.h"
#include "daemon/kernel/uprobe_multi.h"

namespace tracectl {

// Whether this process may open as many descriptors more; Code::exhausted with what to do if not.
Status can_open(size_t descriptors);

// Arms each offset of the request, and returns a descriptor for each, in their order. Closing one disarms its site and
// waits for a grace period, 0.04 to 0.25 s. If a site cannot be armed it returns as many as could, and sets errno.
// `attach_type` is not used.
std::vector<Fd> arm_by_perf_events(const UprobeMulti& request);

}  // namespace tracectl
