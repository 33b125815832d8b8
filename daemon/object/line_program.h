// SPDX-License-Identifier: BSD-2-Clause
//
// Line tables, DWARF 2 to 5: which line of which source file each instruction was compiled from. A table is a program for a
// machine with a few registers (DWARF 5, 6.2); each row that it emits is valid up to the next row. Read here and not by libdw,
// which keeps all tables of a file in memory, and sorts rows by address: what linkers have removed has addresses too, and
// is known by where its sequence of rows begins.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tracectl {

// Sections with line tables and their texts, borrowed.
struct LineSections {
  std::string_view lines;         // .debug_line
  std::string_view line_strings;  // .debug_line_str
  std::string_view strings;       // .debug_str
};

struct LineRow {
  uint64_t address = 0;        // in the file's own address space
  uint64_t file = 0;           // a place in LineTable::files(), or beyond it
  uint32_t line = 0;           // 0: of none
  uint32_t column = 0;         // 0: not known
  bool is_statement = false;   // where a debugger would stop
  bool ends_sequence = false;  // the address is the first one behind the sequence

  bool operator==(const LineRow&) const = default;
};

// The table of one unit. It reads from the sections when rows are asked for.
class LineTable {
 public:
  static constexpr size_t kMostFiles = 100'000;
  static constexpr size_t kLongestPath = 4096;

  // The table at `offset`. `directory`: of the unit, from which relative paths start. None if its header is damaged, or of
  // another version or machine.
  static std::optional<LineTable> read(const LineSections& sections, uint64_t offset,
                                       std::string_view directory);

  // Paths without `.` and `..`, in the order of their numbers; empty where a number has no file.
  const std::vector<std::string>& files() const { return files_; }

  // Calls `on_row` with each row, in the order of the table, until it returns false. Returns false if the table is damaged,
  // after the rows before the damage.
  using OnRow = std::function<bool(const LineRow&)>;
  bool each_row(const OnRow& on_row) const;

 private:
  friend class LineHeader;
  friend class LineMachine;

  std::vector<std::string> files_;
  std::string_view program_;
  std::string_view operand_counts_;  // of the standard opcodes, from 1 on
  uint8_t shortest_instruction_ = 1;
  uint8_t line_range_ = 1;
  int8_t line_base_ = 0;
  bool statement_by_default_ = false;
};

}  // namespace tracectl
