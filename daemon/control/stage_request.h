// SPDX-License-Identifier: BSD-2-Clause
//
// Parses the texts of a staging request. Errors name the field, and the place in it.
#pragma once

#include <string>
#include <vector>

#include "daemon/base/result.h"
#include "daemon/model/setting.h"
#include "daemon/protocol/messages.h"

namespace tracectl {

// Adds the field that has the wrong text, so that a caret can be shown under it.
Error in_field(Error error, const char* field);

// Fails for an empty list.
Result<std::vector<Pattern>> patterns_of(const std::vector<std::string>& texts,
                                         const std::string& scope_name);

// auto, trampoline or exits.
Result<Returns> returns_of(const std::string& name);

// A setting for each pattern.
Result<std::vector<Setting>> settings_of(const protocol::StageSet& request);

}  // namespace tracectl
