// SPDX-License-Identifier: BSD-2-Clause
//
// The variables that expressions name at lines and where inlined functions begin (`var.NAME`), and their fields, from debug
// information; of inlined functions also the parameters.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "daemon/model/argument.h"
#include "daemon/model/field_path.h"
#include "daemon/object/debug_info.h"
#include "daemon/object/elf_file.h"
#include "daemon/object/field_finder.h"
#include "daemon/object/frame_table.h"
#include "daemon/object/location.h"
#include "daemon/object/parameter_type.h"
#include "daemon/object/probes.h"

namespace tracectl {

struct InlinedCopy;
class Scopes;

// A place in the code: of a line, or where a copy of an inlined function begins.
struct LineCode {
  Function function;
  uint64_t address = 0;
  std::span<const uint8_t> code = {};  // of the function, at least up to the address
  uint32_t line = 0;                   // of an inlined function that in which it begins
  std::string source = {};             // the file's path, as in the table of lines
  bool is_shared = false;              // other lines have the same address
  const InlinedCopy* copy = nullptr;   // none: a line
};

class LineVariables {
 public:
  // Reads nothing if no variable is asked for.
  LineVariables(const ElfFile& file, const FieldsAsked& asked);
  LineVariables(LineVariables&&) = delete;

  // The operands by which expressions reach the variables that are asked for at this place; null if none is asked
  // for. They are symbols without a name, and `asked_fields` has the paths. One of them has those that cannot be read.
  // If all fields are asked for, a single one has all variables, each with its fields behind it.
  std::shared_ptr<const Arguments> at(const LineCode& place);

  // What a copy of an inlined function was given, in the order of its parameters. Those that are nowhere say why.
  std::shared_ptr<const Arguments> parameters_of(const LineCode& place);

  // Where some places of a match have a variable and others have not, these have no value of it, and a note says so.
  void settle(ProbeMatch& match) const;

  // The damaged units of debug information among those that were needed.
  std::vector<std::string> left_out() const {
    return info_ ? info_->left_out() : std::vector<std::string>{};
  }

 private:
  struct Operands;
  struct Reached {
    Location location;
    ReachedField field;
    Argument type;  // of the variable
    std::optional<dwarf::Die> variable;
  };

  ReachedFields all_at(const LineCode& line, const CodePlace& place);
  void open();
  std::optional<CodePlace> place_of(const LineCode& place);
  Scopes scopes_at(const LineCode& line, const CodePlace& place) const;
  Reached reach(const FieldPath& path, const LineCode& line, const CodePlace& place);
  Argument argument_of(const dwarf::Die& parameter, const CodePlace& place);
  std::string why_no_place(const dwarf::Die& variable, const std::string& why, const LineCode& line,
                           const CodePlace& place);
  std::vector<uint32_t> lines_with(const dwarf::Die& variable, const LineCode& line,
                                   const CodePlace& place);

  const ElfFile& file_;
  std::vector<FieldPath> paths_;
  uint32_t levels_ = 0;
  bool is_open_ = false;
  std::optional<DebugInfo> info_;
  std::optional<FrameTable> frames_;
  std::optional<StaticData> data_;  // with frames_
  TypeReader types_;
  AskedFields asked_;     // of parameters
  size_t explained_ = 0;  // how often lines that have a variable were looked for
};

}  // namespace tracectl
