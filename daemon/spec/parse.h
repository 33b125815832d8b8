// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <string_view>

#include "daemon/base/result.h"
#include "daemon/model/spec.h"

namespace tracectl {

// Parses what --do takes: ACTION[, ACTION...]. The error has a spot for the caret.
// An action may be named once.
Result<Spec> parse_spec(std::string_view text);

}  // namespace tracectl
