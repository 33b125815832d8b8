// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <string_view>
#include <vector>

#include "daemon/base/result.h"
#include "daemon/model/spec.h"

namespace tracectl {

// Parses the argument of --do: ACTION[, ACTION...]. The error has a spot for the caret. Actions
// that only choose hits (sample, limit) apply to an event if there is nothing else.
Result<Spec> parse_spec(std::string_view text);

// Parses the argument of --when. Types are checked as far as they do not depend on the site.
Result<Expr> parse_condition(std::string_view text);

// Parses the argument of --by of a latency: one to three keys, which must be known before a return.
Result<std::vector<Expr>> parse_keys(std::string_view text);

}  // namespace tracectl
