// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <string>

#include "daemon/base/result.h"
#include "daemon/model/argument.h"
#include "daemon/model/spec.h"

namespace tracectl {

// What of a site's arguments, and of its function's result, a spec is compiled from: where this is
// the same its code is. Fails as with_numbers() does.
Result<std::string> compiled_from(const Spec& spec, const Arguments& arguments,
                                  const Argument* result = nullptr);

// Whether what the spec works out depends on a site's arguments.
bool uses_arguments(const Spec& spec);

// Whether an event has the texts that arguments are the addresses of: where it names no values, and
// the program says of its arguments which are text.
bool shows_text(const Spec& spec, const Arguments& arguments);

// Whether what is worked out when the call returns needs arguments, which must then be kept.
bool keeps_arguments(const Spec& spec);

// The same spec, in which every `arg.NAME` has the number that this argument has at a site, and
// `retval` the type of the result; a signed integer of 64 bits if `result` is null.
Result<Spec> with_numbers(Spec spec, const Arguments& arguments, const Argument* result = nullptr);

}  // namespace tracectl
