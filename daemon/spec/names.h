// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include "daemon/base/result.h"
#include "daemon/model/argument.h"
#include "daemon/model/spec.h"

namespace tracectl {

// Whether what the spec works out depends on a site's arguments.
bool uses_arguments(const Spec& spec);

// The same spec, in which every `arg.NAME` has the number that this argument has at a site.
Result<Spec> with_numbers(Spec spec, const Arguments& arguments);

}  // namespace tracectl
