// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/object/debug_info.h"

#include <algorithm>
#include <cstring>
#include <string_view>

#include "daemon/object/debug_files.h"

namespace tracectl {
namespace {

using dwarf::Die;

// Files beyond these limits are not read: their functions get no names.
constexpr uint64_t kMostDebugBytes = 1 << 30;  // of debug sections, unpacked
constexpr size_t kMostRanges = 4'000'000;
constexpr uint64_t kMostEntriesOfFile = 50'000'000;
constexpr int kMostRangesOfFunction = 4;
constexpr int kMostOverlaps = 16;

// ---- checks before libdw reads the file ----

uint64_t unpacked_bytes(Elf_Scn* section, const GElf_Shdr& header) {
  GElf_Chdr packed;
  if ((header.sh_flags & SHF_COMPRESSED) && gelf_getchdr(section, &packed))
    return std::max<uint64_t>(packed.ch_size, header.sh_size);
  return header.sh_size;
}

// The size of the debug sections; none if one is of the old compressed kind.
std::optional<uint64_t> debug_bytes(const ElfImage& image) {
  size_t names = 0;
  uint64_t all = 0;
  if (elf_getshdrstrndx(image.elf(), &names) != 0) return std::nullopt;
  for (Elf_Scn* at = elf_nextscn(image.elf(), nullptr); at; at = elf_nextscn(image.elf(), at)) {
    GElf_Shdr header;
    if (!gelf_getshdr(at, &header)) return std::nullopt;
    const char* name = elf_strptr(image.elf(), names, header.sh_name);
    if (!name) continue;
    if (std::string_view(name).starts_with(".zdebug")) return std::nullopt;
    if (header.sh_type != SHT_NOBITS && std::string_view(name).starts_with(".debug"))
      all += std::min(unpacked_bytes(at, header), kMostDebugBytes + 1);
  }
  return all;
}

bool may_be_read(const ElfImage& image) {
  const auto bytes = debug_bytes(image);
  return bytes && *bytes <= kMostDebugBytes;
}

}  // namespace

std::optional<DebugInfo> DebugInfo::open(ElfImage image, const std::string& debug_root) {
  DebugInfo info;
  info.image_ = std::make_unique<ElfImage>(std::move(image));
  if (!may_be_read(*info.image_)) return std::nullopt;
  const bool has_common = info.image_->section(".gnu_debugaltlink").has_value();
  if (has_common) {
    auto common = open_common_file(*info.image_, debug_root);
    if (!common || !may_be_read(*common)) return std::nullopt;
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
    if (kind != DW_UT_compile) continue;
    units_.push_back({die});
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

// ---- functions ----

std::vector<Die> DebugInfo::functions_at(uint64_t address) {
  auto range = std::upper_bound(ranges_.begin(), ranges_.end(), address,
                                [](uint64_t a, const Range& r) { return a < r.start; });
  for (int looked = 0; range != ranges_.begin() && looked < kMostOverlaps; ++looked) {
    --range;
    if (address < range->end) index(units_[range->unit]);
  }
  std::vector<Die> found;
  const auto [first, last] = functions_.equal_range(address);
  for (auto at = first; at != last; ++at) found.push_back(at->second);
  return found;
}

std::optional<Die> DebugInfo::unit_at(uint64_t address) const {
  auto range = std::upper_bound(ranges_.begin(), ranges_.end(), address,
                                [](uint64_t a, const Range& r) { return a < r.start; });
  for (int looked = 0; range != ranges_.begin() && looked < kMostOverlaps; ++looked)
    if (address < (--range)->end) return units_[range->unit].die;
  return std::nullopt;
}

void DebugInfo::index(Unit& unit) {
  if (unit.indexed) return;
  unit.indexed = true;
  index_below(unit.die, 0);
}

// Functions can be in namespaces, classes, and the blocks of other functions.
bool DebugInfo::index_below(const Die& parent, int depth) {
  if (depth > dwarf::kDeepestEntry) return true;
  return dwarf::each_child(parent, [&](const Die& die) {
    if (++entries_seen_ > kMostEntriesOfFile) return false;
    switch (dwarf::tag_of(die)) {
      case DW_TAG_subprogram: add_function(die); [[fallthrough]];
      case DW_TAG_namespace:
      case DW_TAG_structure_type:
      case DW_TAG_class_type:
      case DW_TAG_union_type:
      case DW_TAG_lexical_block: return index_below(die, depth + 1);
      default: return true;
    }
  });
}

void DebugInfo::add_function(const Die& die) {
  Dwarf_Addr base = 0, start = 0, end = 0;
  ptrdiff_t at = 0;
  for (int i = 0; i < kMostRangesOfFunction; ++i) {
    at = ::dwarf_ranges(const_cast<Die*>(&die), at, &base, &start, &end);
    if (at <= 0) return;
    functions_.emplace(start, die);
  }
}

}  // namespace tracectl
