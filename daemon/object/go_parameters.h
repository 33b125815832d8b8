// SPDX-License-Identifier: BSD-2-Clause
//
// The parameters and results of functions that Go's compiler made, from its debug information.
#pragma once

#include <cstdint>
#include <memory>

#include "daemon/model/argument.h"
#include "daemon/object/die.h"
#include "daemon/object/parameter_type.h"

namespace tracectl {

// The parameters at the function's entry. Go's compiler says for each the registers that it is in there. One of which it
// does not, or that is not one word, cannot be read; its `text` says why. A string is two arguments: where its bytes
// are, and their number.
Arguments go_arguments(const dwarf::Die& function, uint64_t entry, TypeReader& types);

// The result at a return. More than one, or one that is not one word, cannot be read.
Argument go_result(const dwarf::Die& function, TypeReader& types);

// Without debug information: the registers of integer arguments.
std::shared_ptr<const Arguments> go_argument_registers();

// For a function whose arguments are in no registers, or not certainly.
std::shared_ptr<const Arguments> unreadable_arguments(const std::string& why);

}  // namespace tracectl
