// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include "client/connection/backend.h"
#include "client/options/options.h"
#include "client/target/target.h"

namespace tracectl {

// Adds a setting to a session's draft, with what the daemon needs for it: files, debug files and proofs. The request
// has everything but its patterns and its target; `types` is the value of --types.
Result<protocol::StageReply> stage_setting(const CommonOptions& common, Backend& backend,
                                           const ProbeOptions& probes, const ChosenTarget& target,
                                           const std::string& types, protocol::StageSet request);

}  // namespace tracectl
