// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <string>

namespace tracectl::generator {

// The bytes of an empty ELF object file for this machine. To link it into a program changes
// nothing: the stack stays as the other objects need it, and so do the marks for the processor's
// checks of indirect branches (CET, BTI).
std::string empty_object();

}  // namespace tracectl::generator
