// SPDX-License-Identifier: BSD-2-Clause
//
// DWARF has the inlined functions at an address as nested entries. Each entry has the place of its
// call, and the line table has the source of the instruction itself.
// called, and the line table says where the instruction itself comes from.
#include "daemon/object/source_places.h"

#include <algorithm>
#include <cstring>

#include "daemon/object/demangle.h"

namespace tracectl {
namespace {

using dwarf::Die;

constexpr size_t kMostInlined = 32;
constexpr uint64_t kMostEntriesOfPlace = 4'000'000;  // to read for one place
constexpr size_t kLongestPath = 4096;

std::string printable(const char* text) {
  if (!text) return {};
  std::string plain(text, ::strnlen(text, kLongestPath));
  for (char& c : plain)
    if (static_cast<unsigned char>(c) < ' ' || c == 0x7f) c = '?';
  return plain;
}

std::string function_name(const Die& die) {
  for (const unsigned name : {DW_AT_linkage_name, DW_AT_MIPS_linkage_name})
    if (auto linkage = dwarf::attribute(die, name)) {
      const std::string symbol = printable(::dwarf_formstring(&*linkage));
      if (auto plain = demangle(symbol)) return *plain;
    }
  return dwarf::name_of(die);
}

// Finds the functions around an address, outermost first: those inlined there and the function
// itself.
class Around {
 public:
  explicit Around(uint64_t address) : address_(address) {}

  std::vector<Die> in(const Die& unit) {
    descend(unit, 0);
    return std::move(found_);
  }

 private:
  enum class Inside { no, yes, unknown };

  Inside holds(const Die& die) const {
    switch (dwarf::tag_of(die)) {
      case DW_TAG_subprogram:
      case DW_TAG_inlined_subroutine:
      case DW_TAG_lexical_block:
        return ::dwarf_haspc(const_cast<Die*>(&die), address_) == 1 ? Inside::yes : Inside::no;
      case DW_TAG_namespace:
      case DW_TAG_structure_type:
      case DW_TAG_class_type: return Inside::unknown;
      default: return Inside::no;
    }
  }

  // Returns true once it has descended to the address.
  bool descend(const Die& parent, int depth) {
    if (depth > dwarf::kDeepestEntry) return true;
    bool taken = false;
    dwarf::each_child(parent, [&](const Die& child) {
      if (++entries_ > kMostEntriesOfPlace) return false;
      const Inside inside = holds(child);
      if (inside == Inside::no) return true;
      const bool is_block = dwarf::tag_of(child) == DW_TAG_lexical_block;
      if (inside == Inside::yes && !is_block && found_.size() < kMostInlined)
        found_.push_back(child);
      taken = descend(child, depth + 1) || inside == Inside::yes;
      return !taken;
    });
    return taken;
  }

  uint64_t address_;
  std::vector<Die> found_;
  uint64_t entries_ = 0;
};

struct Line {
  std::string file;
  unsigned number = 0;
};

Line line_at(Die unit, uint64_t address) {
  Dwarf_Line* line = ::dwarf_getsrc_die(&unit, address);
  int number = 0;
  if (!line || ::dwarf_lineno(line, &number) != 0 || number <= 0) return {};
  return {printable(::dwarf_linesrc(line, nullptr, nullptr)), static_cast<unsigned>(number)};
}

// Some split units have a table of files themselves.
bool get_files(UnitEntries& unit, Dwarf_Files*& files, size_t& count) {
  return ::dwarf_getsrcfiles(&unit.entries.die, &files, &count) == 0 ||
         ::dwarf_getsrcfiles(&unit.lines, &files, &count) == 0;
}

std::optional<uint64_t> entry_of(Die function, uint64_t base) {
  Dwarf_Addr entry = 0;
  if (::dwarf_entrypc(&function, &entry) != 0) return std::nullopt;
  return base + entry;
}

// The line in which an inlined function was called.
Line call_of(UnitEntries unit, const Die& inlined) {
  Dwarf_Files* files = nullptr;
  size_t count = 0;
  const auto file = dwarf::number(inlined, DW_AT_call_file);
  const auto line = dwarf::number(inlined, DW_AT_call_line);
  if (!file || !line || *line > INT32_MAX || !get_files(unit, files, count) || *file >= count)
    return {};
  return {printable(::dwarf_filesrc(files, *file, nullptr, nullptr)), static_cast<unsigned>(*line)};
}

}  // namespace

std::vector<SourcePlace> source_places(DebugInfo& debug_info, uint64_t address) {
  std::vector<SourcePlace> places;
  const auto unit = debug_info.unit_at(address);
  if (!unit) return places;
  const auto& [entries, base] = unit->entries;
  auto around = Around(address - base).in(entries);
  std::reverse(around.begin(), around.end());
  Line line = line_at(unit->lines, address);
  for (const Die& function : around) {
    const bool inlined = dwarf::tag_of(function) == DW_TAG_inlined_subroutine;
    places.push_back({function_name(function), line.file, line.number, inlined});
    if (!inlined) {
      places.back().entry = entry_of(function, base);
      break;
    }
    line = call_of(*unit, function);
  }
  if (places.empty() && line.number) places.push_back({"", line.file, line.number, false});
  if (!places.empty()) places.back().inlined = false;
  return places;
}

}  // namespace tracectl
