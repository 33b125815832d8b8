// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include "daemon/model/rows.h"
#include "daemon/process/cgroups.h"

namespace tracectl {

// The kernel keeps rows `by container` and `by unit` by the cgroup's id. This replaces the ids by names,
// and joins the rows of cgroups with the same name.
void name_cgroups(Rows& rows, CgroupNames& names);

}  // namespace tracectl
