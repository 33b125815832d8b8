// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <span>
#include <string_view>

#include "daemon/base/result.h"
#include "daemon/model/expr.h"
#include "daemon/spec/cursor.h"

namespace tracectl {

// Parses the expression at the cursor, as far as it goes. `also` are further words that are
// possible here; an unknown name is compared with them, too.
Result<Expr> parse_expr(Cursor& cursor, std::span<const std::string_view> also = {});

}  // namespace tracectl
