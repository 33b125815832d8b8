// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "daemon/base/result.h"
#include "daemon/model/argument.h"
#include "daemon/model/setting.h"
#include "daemon/model/spec.h"

namespace tracectl {

// A description of the arguments, and of the function's result, that a spec is compiled from: if it
// is equal, so is the code. Fails like with_numbers().
Result<std::string> compiled_from(const Spec& spec, const Arguments& arguments,
                                  const Argument* result = nullptr);

// Whether the spec's code depends on a site's arguments.
bool uses_arguments(const Spec& spec);

// Whether its events have the texts that arguments point to: if it names no values, and the program
// declares which of its arguments are text.
bool shows_text(const Spec& spec, const Arguments& arguments);

// Whether evaluation at the return needs arguments, which must then be kept.
bool keeps_arguments(const Spec& spec);

// The symbols whose addresses its expressions use, each once. `sides`: as enum tc_pair_side, those for which the
// expressions are evaluated.
std::vector<std::string> symbols_of(const Setting& setting, uint32_t sides = 0);

// The paths of the fields that its expressions name, in the same way, and of the arguments and results that stand where
// a text can.
std::vector<std::string> field_paths_of(const Setting& setting, uint32_t sides = 0);
// Each is followed from every function that a pattern fits, in a process with a limit of CPU time. Fails if there are
// more than these.
inline constexpr size_t kMostFieldPaths = 32;
Status check_field_paths(const Setting& setting);

// The same spec, with each `arg.NAME` and `uaddr("NAME")` resolved to its number among the operands of a site, and
// `retval` to the type of the result; a signed integer of 64 bits if `result` is null. Fields are resolved to loads.
Result<Spec> with_numbers(Spec spec, const Arguments& arguments, const Argument* result = nullptr);

}  // namespace tracectl
