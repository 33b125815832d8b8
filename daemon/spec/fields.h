// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include "daemon/base/result.h"
#include "daemon/model/argument.h"
#include "daemon/model/expr.h"

namespace tracectl {

// Gives `part`, a field whose argument or result has its number, the loads that compute its value at a site with these
// arguments and this result. Fails if there is no such field; the spot is in the canonical text of `whole`.
Status resolve_field(Expr& part, const Expr& whole, const Arguments& arguments,
                     const Argument* result);

// Makes `part`, an argument or result that has its number, a field with such loads if it is an object that is a text. For
// where a text can stand. Fails if it is one that cannot be read.
Status resolve_text(Expr& part, const Expr& whole, const Arguments& arguments,
                    const Argument* result);

// Gives an enumerator, the right side of the comparison `part`, its value by the type of the left side, an argument, a
// result or a field, which is resolved already.
Status resolve_enumerator(Expr& part, const Expr& whole, const Arguments& arguments,
                          const Argument* result);

}  // namespace tracectl
