// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <string>

namespace tracectl::generator {

// The bytes of an ELF object file for this machine with nothing in it. Linked into a program it changes
// nothing there: the stack stays as the other objects want it, and so do the marks by which processors
// check indirect branches (CET, BTI).
std::string empty_object();

}  // namespace tracectl::generator
