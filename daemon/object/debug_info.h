// SPDX-License-Identifier: BSD-2-Clause
//
// The DWARF of one file, versions 2 to 5, with an index of functions by address. A unit is read
// when a function in it is first needed: ten thousand functions of a file cost one pass over it,
// and one function costs the list of units and one of them.
//
// Not read: compressed sections of the old kind (.zdebug_info). libdw would open files by names in
// the file, which is untrusted, so it is given no reason to.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "daemon/object/die.h"
#include "daemon/object/elf_image.h"
#include "daemon/object/split_units.h"

namespace tracectl {

// An entry of a function or a unit.
struct CodeEntry {
  dwarf::Die die;
  uint64_t base = 0;  // libdw counts the entry's addresses from here (split_units.h)
};

// A unit: its entries, and where its lines are found.
struct UnitEntries {
  CodeEntry entries;
  dwarf::Die lines;
};

// Where the lines of a unit are.
struct UnitLines {
  uint64_t offset = 0;    // in .debug_line
  std::string directory;  // from which relative paths start
};

class DebugInfo {
 public:
  // None if there is none that can be read. Common types that dwz has moved to another file are
  // searched for under `debug_root`/.dwz; without that file nothing is certain, so there is none.
  // `program`: the path of the file whose debug information it is, to find split units.
  static std::optional<DebugInfo> open(ElfImage image, const std::string& program,
                                       const std::string& debug_root);

  // The functions whose code begins at the address: several if a linker has folded equal ones.
  std::vector<CodeEntry> functions_at(uint64_t address);

  // The unit with the code at the address.
  std::optional<UnitEntries> unit_at(uint64_t address);

  // The units one after another, those that are elsewhere opened; none where that fails.
  size_t unit_count() const { return units_.size(); }
  std::optional<UnitEntries> unit(size_t number);

  // Each table of lines once. They are in the file itself, also those of split units.
  std::vector<UnitLines> lines() const;
  const ElfImage& image() const { return *image_; }

  // The names of units that were needed and are left out because they are damaged, each once.
  const std::vector<std::string>& left_out() const { return left_out_; }

 private:
  struct Unit {
    dwarf::Die die;
    std::optional<size_t> split = {};  // its number, if the entries are elsewhere
    std::optional<CodeEntry> entries = {};
    bool opened = false, indexed = false;
  };
  struct Range {
    uint64_t start = 0, end = 0;
    size_t unit = 0;
  };

  explicit DebugInfo(const std::string& program) : split_(program) {}

  bool list_units();
  bool add_ranges(size_t unit);
  const std::optional<CodeEntry>& open(Unit& unit);
  void index(Unit& unit);
  using Functions = std::vector<std::pair<uint64_t, CodeEntry>>;  // by address
  bool index_below(const CodeEntry& parent, int depth, Functions& functions);
  static void add_function(const CodeEntry& entry, Functions& functions);

  // Declared in this order because the later ones use the earlier ones.
  std::unique_ptr<ElfImage> common_image_, image_;
  DwarfPtr common_, dwarf_;
  SplitUnits split_;

  std::vector<Unit> units_;
  std::vector<Range> ranges_;  // by start
  std::unordered_multimap<uint64_t, CodeEntry> functions_;
  uint64_t entries_seen_ = 0;
  std::vector<std::string> left_out_;
};

}  // namespace tracectl
