// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include "daemon/model/rows.h"
#include "daemon/process/cgroups.h"

namespace tracectl {

// The kernel keeps rows `by container` and `by unit` by the cgroup's id. This puts the names in their
// place, and joins the rows of cgroups of the same name.
void name_cgroups(Rows& rows, CgroupNames& names);

}  // namespace tracectl
