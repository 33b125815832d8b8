// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>

#include "daemon/model/argument.h"

namespace tracectl {

// The address of a symbol in an argument (`counter(%rip)`), in the file's own address space.
using SymbolLookup = std::function<std::optional<uint64_t>(std::string_view)>;

// The text of an operand, read from left to right.
class OperandText {
 public:
  explicit OperandText(std::string_view text) : text_(text) {}

  bool at_end() const { return text_.empty(); }
  char peek() const { return text_.empty() ? '\0' : text_.front(); }
  bool skip(char c);

  // A decimal or 0x number with an optional sign; wraps to 64 bits like the assembler.
  std::optional<int64_t> number();

  // The name of a register or symbol; empty if there is none.
  std::string_view word();

 private:
  std::string_view text_;
};

// Reads an operand, as the GNU assembler of the machine writes it, into the argument's place. Without `has_size` the
// size is the register's. Returns whether it was understood; the argument is undefined if not. The room of each machine
// defines it.
bool read_operand(OperandText& text, bool has_size, const SymbolLookup& symbol, Argument& argument);

}  // namespace tracectl
