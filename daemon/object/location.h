// SPDX-License-Identifier: BSD-2-Clause
//
// Where a variable is at an address of the code, by the expressions of debug information (DWARF 5, 2.5 and 2.6). Of
// these only what leads from one register, or from a fixed address, by additions and pointers is understood; all else
// is refused with the reason.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "daemon/model/register.h"
#include "daemon/object/die.h"
#include "daemon/object/elf_file.h"
#include "daemon/object/frame_table.h"
#include "daemon/object/static_data.h"

namespace tracectl {

// Add the first of `offsets` to the register's value, or to 0 if there is none; read a pointer there, add the next one,
// and so on. The last sum is the variable's value, or its address.
struct Location {
  Register base = Register::none;  // the instruction pointer stands for the place of the code
  std::vector<uint64_t> offsets = {};
  bool is_memory = false;
  // It is one register as a whole, which may be that of a smaller value.
  bool is_register = false;
  bool is_of_list = false;  // a list of locations has it, for this part of the code
  bool is_optimised_out = false;
  std::string why_not = {};  // there is none that can be read; nothing else means anything then
};

// A function of the debug information, and an address in it.
struct CodePlace {
  Function function;
  dwarf::Die die;     // of the function
  uint64_t base = 0;  // libdw counts addresses of its entries from here
  uint64_t address = 0;
  // Of the function, from its first byte on, at least up to the address.
  std::span<const uint8_t> code = {};
  bool is_shared = false;  // several lines have the address
  bool is_entry = true;    // the function, which is no part of another, begins where its code does
};

class Locations {
 public:
  // All outlive it. `is_fixed`: the file runs only at the addresses it is linked for.
  Locations(const FrameTable& frames, const StaticData& data, bool is_fixed)
      : frames_(frames), data_(data), is_fixed_(is_fixed) {}

  // Of a variable or parameter. `size`: of its type, in bytes.
  Location of(const dwarf::Die& variable, const CodePlace& place, uint64_t size) const;

 private:
  const FrameTable& frames_;
  const StaticData& data_;
  bool is_fixed_;
};

}  // namespace tracectl
