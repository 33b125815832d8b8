// SPDX-License-Identifier: BSD-2-Clause
//
// What a spec says in its canonical text, and the most that its expressions cost a hit.
#pragma once

#include "daemon/base/result.h"
#include "daemon/model/probe.h"
#include "daemon/model/setting.h"
#include "daemon/protocol/messages.h"

namespace tracectl {

// At this site.
Result<protocol::SpecPart> explain(const Setting& setting, const Site& site);

}  // namespace tracectl
