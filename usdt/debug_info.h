// SPDX-License-Identifier: BSD-2-Clause
//
// The DWARF of one file, versions 2 to 5, and which of its functions begins where. A unit is looked
// through when a function in it is first asked for: what ten thousand functions of a file cost is
// one pass over it, and what one costs is the list of units and one of them.
//
// Not read: the .dwo files of split units (their functions are unknown here), and compressed
// sections of the old kind (.zdebug_info). libdw would open files by names that it finds in the
// file, which is foreign; so it is given no reason to.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "usdt/die.h"
#include "usdt/elf_image.h"

namespace tracectl {

class DebugInfo {
 public:
  // None where there is none that can be read. Common types that dwz has moved to a file of their
  // own are looked for under `debug_root`/.dwz; without that file nothing is certain.
  static std::optional<DebugInfo> open(ElfImage image, const std::string& debug_root);

  // The functions whose code begins at the address: several where a linker has folded equal ones.
  std::vector<dwarf::Die> functions_at(uint64_t address);

  // The unit whose code the address is in.
  std::optional<dwarf::Die> unit_at(uint64_t address) const;

 private:
  struct End {
    void operator()(Dwarf* dwarf) const { ::dwarf_end(dwarf); }
  };
  using DwarfPtr = std::unique_ptr<Dwarf, End>;

  struct Unit {
    dwarf::Die die;
    bool indexed = false;
  };
  struct Range {
    uint64_t start = 0, end = 0;
    size_t unit = 0;
  };

  bool list_units();
  bool add_ranges(size_t unit);
  void index(Unit& unit);
  bool index_below(const dwarf::Die& parent, int depth);
  void add_function(const dwarf::Die& die);

  // In the order of their need for one another.
  std::unique_ptr<ElfImage> common_image_, image_;
  DwarfPtr common_, dwarf_;

  std::vector<Unit> units_;
  std::vector<Range> ranges_;  // by start
  std::unordered_multimap<uint64_t, dwarf::Die> functions_;
  uint64_t entries_seen_ = 0;
};

}  // namespace tracectl
