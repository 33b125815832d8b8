// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include "daemon/object/die.h"

namespace tracectl {

// How an object of a C++ class is passed to a function: as its bytes, or as the address of a copy
// that the class has made. Itanium C++ ABI, "non-trivial for the purposes of calls": it has a copy
// constructor, move constructor or destructor of its own, or a virtual function or base, or a
// member or base of such a class.
enum class Copying { by_bytes, by_address, uncertain };
Copying copying_of(const dwarf::Die& type);

}  // namespace tracectl
