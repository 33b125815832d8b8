// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/object/dwarf_package.h"

#include <algorithm>
#include <cstring>

namespace tracectl {
namespace {

constexpr size_t kOffsets = 6, kStrings = 7;  // in kSplitSections
constexpr size_t kMostColumns = 16;
constexpr uint64_t kHeaderBytes = 16;
constexpr size_t kStringOffsetsHeader = 8;  // since DWARF 5

uint32_t word_at(std::span<const uint8_t> bytes, uint64_t at) {
  uint32_t word = 0;
  std::memcpy(&word, bytes.data() + at, sizeof(word));
  return word;
}

uint64_t id_at(std::span<const uint8_t> bytes, uint64_t at) {
  uint64_t id = 0;
  std::memcpy(&id, bytes.data() + at, sizeof(id));
  return id;
}

// What a column of the index is for, as an index into kSplitSections.
std::optional<size_t> section_of_column(uint32_t version, uint32_t column) {
  switch (column) {
    case 1: return 0;
    case 3: return 1;
    case 4: return 2;
    case 5: return version == 2 ? 3 : 4;
    case 6: return kOffsets;
    case 8: return version == 2 ? std::nullopt : std::optional<size_t>(5);
    default: return std::nullopt;
  }
}

// Strings of all units are one section. Takes those that a unit refers to, and writes their new
// places into the unit's offsets. False if an offset leads nowhere, or if they are much more than
// all.
bool take_strings(const SectionBytes& from, SectionBytes& offsets, size_t header,
                  SectionBytes& to) {
  for (size_t at = header; at + sizeof(uint32_t) <= offsets.size(); at += sizeof(uint32_t)) {
    const uint32_t place = word_at(offsets, at);
    if (place >= from.size()) return false;
    const auto begin = from.begin() + place;
    const auto end = std::find(begin, from.end(), uint8_t{0});
    if (end == from.end()) return false;
    const auto moved = static_cast<uint32_t>(to.size());
    to.insert(to.end(), begin, end + 1);
    // A long string that many offsets name would be copied often.
    if (to.size() > 4 * from.size()) return false;
    std::memcpy(offsets.data() + at, &moved, sizeof(moved));
  }
  return true;
}

}  // namespace

std::optional<SplitSections> split_sections(const ElfImage& image) {
  SplitSections sections;
  for (size_t i = 0; i < sections.size(); ++i) {
    if (!image.section(kSplitSections[i])) continue;
    auto bytes = image.unpacked_bytes(kSplitSections[i]);
    if (!bytes) return std::nullopt;
    sections[i] = std::move(*bytes);
  }
  return sections;
}

std::optional<DwarfPackage> DwarfPackage::open(const ElfImage& image) {
  const auto index = image.unpacked_bytes(".debug_cu_index");
  auto all = index ? split_sections(image) : std::nullopt;
  DwarfPackage package;
  if (!all || !package.read_index(*index)) return std::nullopt;
  package.all_ = std::move(*all);
  return package;
}

// A header; a hash table of ids, and one of the rows that they have; the sections of the columns;
// the offsets in each row; the sizes in each row.
bool DwarfPackage::read_index(std::span<const uint8_t> index) {
  if (index.size() < kHeaderBytes) return false;
  const uint32_t version = word_at(index, 0) & 0xffff;  // the rest is padding in version 5
  const uint64_t columns = word_at(index, 4), rows = word_at(index, 8), slots = word_at(index, 12);
  if ((version != 2 && version != 5) || columns > kMostColumns) return false;
  const uint64_t rows_at = kHeaderBytes + slots * 8, columns_at = rows_at + slots * 4;
  const uint64_t offsets_at = columns_at + columns * 4, sizes_at = offsets_at + rows * columns * 4;
  if (sizes_at + rows * columns * 4 > index.size()) return false;
  for (uint64_t slot = 0; slot < slots; ++slot) {
    const uint64_t row = word_at(index, rows_at + slot * 4);
    if (row == 0 || row > rows) continue;
    Parts parts;
    for (uint64_t column = 0; column < columns; ++column) {
      const uint64_t cell = ((row - 1) * columns + column) * 4;
      if (const auto section = section_of_column(version, word_at(index, columns_at + column * 4)))
        parts[*section] = {word_at(index, offsets_at + cell), word_at(index, sizes_at + cell)};
    }
    units_.emplace(id_at(index, kHeaderBytes + slot * 8), parts);
  }
  return true;
}

std::optional<SplitSections> DwarfPackage::unit(uint64_t id) const {
  const auto found = units_.find(id);
  if (found == units_.end()) return std::nullopt;
  SplitSections unit;
  for (size_t i = 0; i < unit.size(); ++i) {
    const auto [offset, size] = found->second[i];
    if (uint64_t{offset} + size > all_[i].size()) return std::nullopt;
    unit[i].assign(all_[i].begin() + offset, all_[i].begin() + offset + size);
  }
  const bool is_version_5 = unit[0].size() > 5 && unit[0][4] >= 5;
  const size_t header = is_version_5 ? kStringOffsetsHeader : 0;
  if (!take_strings(all_[kStrings], unit[kOffsets], header, unit[kStrings])) return std::nullopt;
  return unit;
}

}  // namespace tracectl
