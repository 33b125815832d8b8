// SPDX-License-Identifier: BSD-2-Clause
//
// What a spec says in its canonical text, and the most that its expressions cost a hit.
#pragma once

#include "daemon/base/result.h"
#include "daemon/model/probe.h"
#include "daemon/model/spec.h"
#include "daemon/protocol/messages.h"

namespace tracectl {

// At a site with these arguments.
Result<protocol::SpecPart> explain(const Spec& spec, const Site& site);

}  // namespace tracectl
