// SPDX-License-Identifier: BSD-2-Clause
//
// Whether one entry of debug information describes several copies of an inlined function: compilers that unroll a loop make
// copies of what was inlined in it, and have one entry for all. The lines of the source show that.
#pragma once

#include <cstdint>
#include <vector>

#include "daemon/object/code/copy_entry.h"
#include "daemon/object/line_program.h"

namespace tracectl {

class CopyLines {
 public:
  // Of a unit: the rows of its table that begin a statement.
  CopyLines(const LineSections& sections, uint64_t offset);

  // Whether the statement with which the copy begins also begins elsewhere in it, with others in between; also if it is not
  // known.
  bool may_be_repeated(const CodeSpans& copy, uint64_t entry) const;

 private:
  struct Row {
    uint64_t address = 0, file = 0;
    uint32_t line = 0, column = 0;

    bool is_same(const Row& other) const {
      return file == other.file && line == other.line && column == other.column;
    }
  };
  using Rows = std::vector<Row>;

  Rows first_rows(uint64_t entry) const;

  Rows rows_;  // by address
};

}  // namespace tracectl
