// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <string>

#include "daemon/object/elf_file.h"

namespace tracectl {

// Whose rules a function follows.
enum class GoCode {
  none,      // not Go's: a program in another language, or C code in a Go program
  compiled,  // by Go's compiler: ABIInternal
  wrapper,   // by Go's compiler, for calls by assembly: ABI0
  assembly,
  unknown,  // some Go code: the program's table of functions cannot be read
};

GoCode go_code_of(const ElfFile& file, const Function& function);

// Whether go_entry() says where its calls begin.
bool has_go_entry(const ElfFile& file, const Function& function);

// Why nothing is known about the functions of this Go program; empty if something is.
std::string why_go_is_unknown(const ElfFile& file);

}  // namespace tracectl
