// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/object/debug_info.h"

#include <algorithm>
#include <unordered_set>
#include <utility>

#include "daemon/object/debug_files.h"

namespace tracectl {
namespace {

using dwarf::Die;

// Files beyond these limits are not read: their functions get no names.
constexpr size_t kMostRanges = 4'000'000;
constexpr uint64_t kMostEntriesOfFile = 50'000'000;
constexpr int kMostRangesOfFunction = 4;
constexpr int kMostOverlaps = 16;

std::string name_of_unit(const Die& unit) {
  const std::string name = dwarf::name_of(unit);
  if (!name.empty()) return name;
  return "at offset " + std::to_string(::dwarf_dieoffset(const_cast<Die*>(&unit)));
}

}  // namespace

std::optional<DebugInfo> DebugInfo::open(ElfImage image, const std::string& program,
                                         const std::string& debug_root) {
  DebugInfo info(program);
  info.image_ = std::make_unique<ElfImage>(std::move(image));
  if (!may_read_debug_info(*info.image_)) return std::nullopt;
  const bool has_common = info.image_->section(".gnu_debugaltlink").has_value();
  if (has_common) {
    auto common = open_common_file(*info.image_, debug_root);
    if (!common || !may_read_debug_info(*common)) return std::nullopt;
    info.common_image_ = std::make_unique<ElfImage>(std::move(*common));
    info.common_.reset(::dwarf_begin_elf(info.common_image_->elf(), DWARF_C_READ, nullptr));
    if (!info.common_) return std::nullopt;
  }
  info.dwarf_.reset(::dwarf_begin_elf(info.image_->elf(), DWARF_C_READ, nullptr));
  if (!info.dwarf_) return std::nullopt;
  if (has_common) ::dwarf_setalt(info.dwarf_.get(), info.common_.get());
  if (!info.list_units()) return std::nullopt;
  return info;
}

// ---- units ----

bool DebugInfo::list_units() {
  Dwarf_CU* unit = nullptr;
  Die die;
  uint8_t kind = 0;
  while (::dwarf_get_units(dwarf_.get(), unit, &unit, nullptr, &kind, &die, nullptr) == 0) {
    if (kind != DW_UT_compile && kind != DW_UT_skeleton) continue;
    units_.push_back({die});
    if (kind == DW_UT_skeleton)
      if (auto skeleton = read_skeleton(die))
        units_.back().split = split_.add(std::move(*skeleton));
    if (!add_ranges(units_.size() - 1)) return false;
  }
  std::sort(ranges_.begin(), ranges_.end(),
            [](const Range& a, const Range& b) { return a.start < b.start; });
  return true;
}

bool DebugInfo::add_ranges(size_t unit) {
  Dwarf_Addr base = 0, start = 0, end = 0;
  ptrdiff_t at = 0;
  while ((at = ::dwarf_ranges(&units_[unit].die, at, &base, &start, &end)) > 0) {
    if (start < end) ranges_.push_back({start, end, unit});
    if (ranges_.size() > kMostRanges) return false;
  }
  return true;
}

// The entries of a skeleton are read when they are first needed.
const std::optional<CodeEntry>& DebugInfo::open(Unit& unit) {
  if (std::exchange(unit.opened, true)) return unit.entries;
  if (!unit.split)
    unit.entries = CodeEntry{unit.die};
  else if (const auto die = split_.open(*image_, *unit.split))
    unit.entries = CodeEntry{*die, split_.base_of(*unit.split)};
  return unit.entries;
}

std::vector<UnitLines> DebugInfo::lines() const {
  std::vector<UnitLines> all;
  std::unordered_set<uint64_t> seen;
  for (const Unit& unit : units_) {
    const auto offset = dwarf::number(unit.die, DW_AT_stmt_list);
    if (!offset || !seen.insert(*offset).second) continue;
    auto directory = dwarf::attribute(unit.die, DW_AT_comp_dir);
    const char* text = directory ? ::dwarf_formstring(&*directory) : nullptr;
    all.push_back({*offset, text ? text : ""});
  }
  return all;
}

// ---- functions ----

std::vector<CodeEntry> DebugInfo::functions_at(uint64_t address) {
  auto range = std::upper_bound(ranges_.begin(), ranges_.end(), address,
                                [](uint64_t a, const Range& r) { return a < r.start; });
  for (int looked = 0; range != ranges_.begin() && looked < kMostOverlaps; ++looked) {
    --range;
    if (address < range->end) index(units_[range->unit]);
  }
  std::vector<CodeEntry> found;
  const auto [first, last] = functions_.equal_range(address);
  for (auto at = first; at != last; ++at) found.push_back(at->second);
  return found;
}

std::optional<UnitEntries> DebugInfo::unit_at(uint64_t address) {
  auto range = std::upper_bound(ranges_.begin(), ranges_.end(), address,
                                [](uint64_t a, const Range& r) { return a < r.start; });
  for (int looked = 0; range != ranges_.begin() && looked < kMostOverlaps; ++looked) {
    if (address >= (--range)->end) continue;
    Unit& unit = units_[range->unit];
    return UnitEntries{open(unit).value_or(CodeEntry{unit.die}), unit.die};
  }
  return std::nullopt;
}

std::optional<UnitEntries> DebugInfo::unit(size_t number) {
  Unit& unit = units_[number];
  const auto& entries = open(unit);
  if (!entries) return std::nullopt;
  return UnitEntries{*entries, unit.die};
}

void DebugInfo::index(Unit& unit) {
  if (std::exchange(unit.indexed, true)) return;
  const auto& entries = open(unit);
  if (!entries) return;
  Functions functions;
  if (index_below(*entries, 0, functions))
    functions_.insert(functions.begin(), functions.end());
  else if (entries_seen_ <= kMostEntriesOfFile)
    left_out_.push_back(name_of_unit(unit.die));
}

// Functions can be in namespaces, classes, and the blocks of other functions.
bool DebugInfo::index_below(const CodeEntry& parent, int depth, Functions& functions) {
  if (depth > dwarf::kDeepestEntry) return true;
  return dwarf::each_child(parent.die, [&](const Die& die) {
    if (++entries_seen_ > kMostEntriesOfFile) return false;
    const CodeEntry entry{die, parent.base};
    switch (dwarf::tag_of(die)) {
      case DW_TAG_subprogram: add_function(entry, functions); [[fallthrough]];
      case DW_TAG_namespace:
      case DW_TAG_structure_type:
      case DW_TAG_class_type:
      case DW_TAG_union_type:
      case DW_TAG_lexical_block: return index_below(entry, depth + 1, functions);
      default: return true;
    }
  });
}

void DebugInfo::add_function(const CodeEntry& entry, Functions& functions) {
  Dwarf_Addr base = 0, start = 0, end = 0;
  ptrdiff_t at = 0;
  for (int i = 0; i < kMostRangesOfFunction; ++i) {
    at = ::dwarf_ranges(const_cast<Die*>(&entry.die), at, &base, &start, &end);
    if (at <= 0) return;
    functions.emplace_back(start + entry.base, entry);
  }
}

}  // namespace tracectl
