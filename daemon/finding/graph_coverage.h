// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include "daemon/finding/wanted_parts.h"

namespace tracectl {

// Adds what a graph shows within the calls of its root: the functions below it, or those that `only` names, and the probes
// beside them. A function below that cannot be armed becomes a note.
Status add_below(const ResolverFor& resolver, const Root& root, Coverage& coverage);

}  // namespace tracectl
