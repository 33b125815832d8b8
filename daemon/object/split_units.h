// SPDX-License-Identifier: BSD-2-Clause
//
// Debug information of programs that were compiled with -gsplit-dwarf. The program has a skeleton of
// each unit, which names the file with the unit's entries, and the addresses that the entries refer
// to by number. libdw would open the file by the name in the program, which is untrusted, and it
// knows no packages. So each unit is made a file in memory, with the parts of both, which libdw
// reads like any other. Addresses in it count from the unit's beginning, because without the
// skeleton libdw knows no other base of its ranges.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "daemon/object/die.h"
#include "daemon/object/dwarf_package.h"
#include "daemon/object/elf_image.h"

namespace tracectl {

struct DwarfEnd {
  void operator()(Dwarf* dwarf) const { ::dwarf_end(dwarf); }
};
using DwarfPtr = std::unique_ptr<Dwarf, DwarfEnd>;

// A unit whose entries are elsewhere.
struct Skeleton {
  std::string file, directory;  // as the compiler wrote them
  uint64_t id = 0;
  unsigned version = 0;
  uint64_t base = 0;       // of its code
  uint64_t addresses = 0;  // in .debug_addr
  uint64_t ranges = 0;     // in .debug_ranges, before DWARF 5
};

// None if the unit has no id, or no name of a file.
std::optional<Skeleton> read_skeleton(const dwarf::Die& unit);

class SplitUnits {
 public:
  // `program`: the path of the program's file; the package and the files are searched for beside
  // it, and where the skeleton says.
  explicit SplitUnits(std::string program) : program_(std::move(program)) {}

  // Add all before the first is opened. Returns its number.
  size_t add(Skeleton skeleton);

  // The entry of the unit, which is valid as long as this object. `image`: of the skeletons. None if
  // there is no file with the unit's id.
  std::optional<dwarf::Die> open(const ElfImage& image, size_t number);

  uint64_t base_of(size_t number) const { return skeletons_[number].base; }

 private:
  // A section of the skeletons' file of which each unit has the part from its base on.
  struct Shared {
    SectionBytes bytes;
    std::vector<uint64_t> bases;

    SectionBytes part_from(uint64_t base) const;
  };
  struct Opened {
    std::unique_ptr<ElfImage> image;
    DwarfPtr dwarf;
  };

  void prepare(const ElfImage& image);
  std::vector<std::string> places_of(const Skeleton& skeleton) const;
  std::optional<dwarf::Die> join(const Skeleton& skeleton, SplitSections sections,
                                 uint16_t machine);
  SectionBytes addresses_of(const Skeleton& skeleton) const;
  SectionBytes ranges_of(const Skeleton& skeleton) const;

  std::string program_;
  std::vector<Skeleton> skeletons_;
  bool is_prepared_ = false;
  std::optional<DwarfPackage> package_;
  Shared addresses_, ranges_;
  uint64_t bytes_ = 0;  // of all that are open
  std::vector<Opened> opened_;
};

}  // namespace tracectl
