// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <string>
#include <vector>

#include "daemon/object/elf_file.h"
#include "daemon/object/probes.h"

namespace tracectl {

// Gives each site the addresses of the variables and functions with these names, in the file's symbols or demangled,
// relative to the instruction pointer. Sites are refused if the file cannot say one of them for every process: it has
// no such symbol, or several; the variable is thread-local, or may be a copy in the program; the function is chosen
// when the file is loaded.
void add_symbols(const ElfFile& file, const std::vector<std::string>& names, ProbeMatch& match);

}  // namespace tracectl
