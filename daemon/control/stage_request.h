// SPDX-License-Identifier: BSD-2-Clause
//
// What a request's texts mean. Errors name the field, and where in it.
#pragma once

#include <string>
#include <vector>

#include "daemon/base/result.h"
#include "daemon/model/setting.h"
#include "daemon/protocol/messages.h"

namespace tracectl {

// The field a caller wrote a wrong text in, for the caret under it.
Error in_field(Error error, const char* field);

// One at least.
Result<std::vector<Pattern>> patterns_of(const std::vector<std::string>& texts,
                                         const std::string& scope_name);

// A setting for each pattern.
Result<std::vector<Setting>> settings_of(const protocol::StageSet& request);

}  // namespace tracectl
