// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include "daemon/base/result.h"
#include "daemon/model/argument.h"
#include "daemon/model/expr.h"
#include "daemon/spec/code.h"

namespace tracectl {

// Compile an expression for sites with these arguments. An error's spot is in the expression's
// canonical text.

// The code returns 1 if the condition holds and 0 otherwise.
Result<ExprCode> compile_condition(const Expr& expr, const Arguments& arguments);

// The code returns the integer, or the address of the string.
Result<ExprCode> compile_value(const Expr& expr, const Arguments& arguments);

}  // namespace tracectl
