// SPDX-License-Identifier: BSD-2-Clause
//
// A spec's canonical text, and the most instructions that its expressions take in a hit.
#pragma once

#include "daemon/base/result.h"
#include "daemon/model/probe.h"
#include "daemon/model/setting.h"
#include "daemon/protocol/messages.h"

namespace tracectl {

// As the spec is compiled for this site.
Result<protocol::SpecPart> explain(const Setting& setting, const Site& site);

}  // namespace tracectl
