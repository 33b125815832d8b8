// SPDX-License-Identifier: BSD-2-Clause
//
// Where the frame of a function lies at an address of its code, by the unwind tables of its file: the value of the
// stack pointer of its caller, before the call (DWARF's canonical frame address).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "daemon/object/die.h"
#include "daemon/object/elf_image.h"

namespace tracectl {

class FrameTable {
 public:
  // `program`: the image with the code. `debug`: an entry of its debug information, whose file may have a table too.
  FrameTable(ElfImage program, const dwarf::Die& debug);
  FrameTable(FrameTable&&) noexcept = default;
  FrameTable& operator=(FrameTable&&) noexcept = default;

  struct Row {
    std::vector<Dwarf_Op> place;          // an expression whose value is the address
    uint64_t first_address = 0, end = 0;  // of the code for which it holds
  };
  std::optional<Row> row_at(uint64_t address) const;

 private:
  struct End {
    void operator()(Dwarf_CFI* table) const { ::dwarf_cfi_end(table); }
  };

  // Declared in this order because the table reads from the image.
  std::unique_ptr<ElfImage> program_;
  std::unique_ptr<Dwarf_CFI, End> of_program_;
  Dwarf_CFI* of_debug_ = nullptr;  // belongs to the debug information
};

}  // namespace tracectl
