// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/object/data_map.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace tracectl {
namespace {

constexpr uint64_t kWordBytes = 8;
constexpr uint64_t kMostPointersInARow = 4096;
constexpr int kMostVariables = 64;  // to search backwards, because some may lie within others

uint64_t aligned(uint64_t address) { return (address + kWordBytes - 1) & ~(kWordBytes - 1); }

}  // namespace

DataMap::DataMap(const ObjectFile& object)
    : file_(object.elf()),
      variables_(object.elf().variables()),
      pointers_(read_pointers(object.elf())) {
  for (const char* name : {".got", ".got.plt"})
    if (auto table = file_.section(name)) linkers_tables_.push_back(std::move(*table));
}

std::optional<AddressRange> DataMap::variable_around(uint64_t address) const {
  auto after = std::ranges::upper_bound(variables_, address, {}, &AddressRange::address);
  for (int looked = 0; after != variables_.begin() && looked < kMostVariables; ++looked) {
    const AddressRange& variable = *--after;
    if (address - variable.address < variable.size) return variable;
  }
  return std::nullopt;
}

std::optional<AddressRange> DataMap::pointers_from(uint64_t address) const {
  uint64_t count = 0;
  auto at = std::ranges::lower_bound(pointers_, address, {}, &Pointer::place);
  for (; at != pointers_.end() && at->place == address + count * kWordBytes; ++at)
    if (++count == kMostPointersInARow) break;
  if (count == 0) return std::nullopt;
  return AddressRange{address, count * kWordBytes};
}

bool DataMap::is_of_linker(uint64_t place) const {
  return std::ranges::any_of(
      linkers_tables_, [&](const Section& table) { return place - table.address < table.size; });
}

const Pointer* DataMap::pointer_at(uint64_t place) const {
  const auto found = std::ranges::lower_bound(pointers_, place, {}, &Pointer::place);
  return found != pointers_.end() && found->place == place ? &*found : nullptr;
}

std::span<const Pointer> DataMap::pointers_in(const AddressRange& range) const {
  const auto first = std::ranges::lower_bound(pointers_, range.address, {}, &Pointer::place);
  const auto is_inside = [&](const Pointer& pointer) {
    return pointer.place - range.address < range.size;
  };
  return {first, std::partition_point(first, pointers_.end(), is_inside)};
}

std::vector<uint64_t> DataMap::words_in(const AddressRange& range) const {
  const uint64_t skipped = aligned(range.address) - range.address;
  const auto offset = file_.offset_of(range.address);
  if (!offset || skipped >= range.size) return {};
  const auto bytes = file_.read_at_most(*offset + skipped, range.size - skipped);
  std::vector<uint64_t> words;
  for (size_t at = 0; bytes && bytes->size() - at >= kWordBytes; at += kWordBytes) {
    uint64_t word = 0;
    std::memcpy(&word, bytes->data() + at, sizeof word);
    if (word != 0) words.push_back(word);
  }
  return words;
}

}  // namespace tracectl
