// SPDX-License-Identifier: BSD-2-Clause
//
// The table of functions that Go's linker puts into every program for the runtime's tracebacks (.gopclntab). Stripped
// programs have it, too. Format: src/runtime/symtab.go and src/debug/gosym/pclntab.go of Go 1.18 and later.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "daemon/base/result.h"
#include "daemon/object/elf_file.h"

namespace tracectl {

struct GoFunction {
  std::string name;
  uint64_t address = 0;  // in the file's own address space
  uint64_t size = 0;
  bool is_assembly = false;  // not by ABIInternal: its goroutine may be in no register

  bool operator==(const GoFunction&) const = default;
};

// The functions, sorted by address. Fails with Code::unsupported, and the reason, for a table of another Go version, and
// for a damaged one. `text_start`: where the code begins.
Result<std::vector<GoFunction>> parse_go_functions(std::span<const uint8_t> table,
                                                   uint64_t text_start);

// Those of a file; none if it has no such table, and so is no Go program.
std::optional<Result<std::vector<GoFunction>>> read_go_functions(const ElfFile& file);

}  // namespace tracectl
