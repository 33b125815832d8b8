// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <string>
#include <vector>

#include "daemon/model/pattern.h"
#include "daemon/object/elf_file.h"
#include "daemon/object/probes.h"

namespace tracectl {

// Each site with symbols has a form of operands of its own (switching/slots.h), if the file can be loaded anywhere.
inline constexpr size_t kMostSitesWithSymbols = 2000;

// Gives each site of a match the addresses of the variables and functions with these names, which are those of the
// file's symbols or demangled. Refuses all of them if one of the addresses is not known or not the same in every process
// that has the file: there is no such symbol, or there are several; the symbol is thread-local, a number, or chosen when
// the file is loaded; the variable may be a copy in the program. `pattern` is what was matched.
void add_symbols(const ElfFile& file, const Pattern& pattern, const std::vector<std::string>& names,
                 ProbeMatch& match);

}  // namespace tracectl
