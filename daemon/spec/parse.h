// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <string_view>
#include <vector>

#include "daemon/base/result.h"
#include "daemon/model/spec.h"

namespace tracectl {

// Parses what --do takes: ACTION[, ACTION...]. The error has a spot for the caret. What only says
// which hits are taken (sample, limit) goes with an event if nothing else does.
Result<Spec> parse_spec(std::string_view text);

// Parses what --when takes. Types are checked as far as they do not depend on the site.
Result<Expr> parse_condition(std::string_view text);

// Parses what --by of a latency takes: one to three keys, which no return has to be waited for.
Result<std::vector<Expr>> parse_keys(std::string_view text);

}  // namespace tracectl
