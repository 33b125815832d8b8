// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/object/unwind_ranges.h"

#include <dwarf.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <string_view>

// .eh_frame is a list of entries of two kinds. A CIE has the common properties of many functions,
// such as the encoding of addresses. An FDE refers back to a CIE and describes its code: the first
// address, the size, then how to unwind it.
//
// libdw could step from entry to entry (dwarf_next_cfi), but in elfutils 0.188 it reads beyond the
// table if a CIE's augmentation has more letters than data. And its lookup of addresses
// (dwarf_cfi_addrframe) does not show entries that contradict each other.
namespace tracectl {
namespace {

// Files beyond these limits are refused as absurd.
constexpr uint64_t kMostTableBytes = 32 << 20;
constexpr size_t kMostCies = 100'000;
constexpr size_t kMostCodeSections = 1'000;

constexpr uint8_t kFormatMask = 0x0f;
constexpr uint8_t kApplicationMask = 0xf0;

// ---- numbers ----

// Little-endian, like the machine.
template <class Number> uint64_t number_at(const uint8_t* bytes) {
  Number number;
  std::memcpy(&number, bytes, sizeof number);
  return static_cast<uint64_t>(static_cast<int64_t>(number));
}

std::optional<size_t> size_of(uint8_t encoding) {
  switch (encoding & kFormatMask) {
    case DW_EH_PE_udata2:
    case DW_EH_PE_sdata2: return 2;
    case DW_EH_PE_udata4:
    case DW_EH_PE_sdata4: return 4;
    case DW_EH_PE_absptr:
    case DW_EH_PE_udata8:
    case DW_EH_PE_sdata8: return 8;
    default: return std::nullopt;
  }
}

// Takes values from the front of a piece of the table; none if too few bytes are left.
class Reader {
 public:
  Reader(std::span<const uint8_t> bytes, uint64_t address) : bytes_(bytes), address_(address) {}

  uint64_t address() const { return address_; }  // of the first byte left
  size_t size() const { return bytes_.size(); }

  std::optional<Reader> piece(uint64_t size) {
    if (size > bytes_.size()) return std::nullopt;
    Reader piece{bytes_.first(size), address_};
    skip(size);
    return piece;
  }

  std::optional<uint8_t> byte() {
    if (bytes_.empty()) return std::nullopt;
    const uint8_t byte = bytes_[0];
    skip(1);
    return byte;
  }

  // As encoded, before anything is added to it.
  std::optional<uint64_t> number(uint8_t encoding) {
    const auto size = size_of(encoding);
    if (!size || *size > bytes_.size()) return std::nullopt;
    const uint64_t number = read(encoding & kFormatMask);
    skip(*size);
    return number;
  }

  std::optional<uint64_t> pointer(uint8_t encoding) {
    const uint64_t place = address_;
    const uint8_t application = encoding & kApplicationMask;
    if (application != DW_EH_PE_absptr && application != DW_EH_PE_pcrel) return std::nullopt;
    auto pointer = number(encoding);
    if (pointer && application == DW_EH_PE_pcrel) *pointer += place;
    return pointer;
  }

  // LEB128; nine bytes are enough for any size.
  std::optional<uint64_t> packed() {
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 63; shift += 7) {
      const auto seven = byte();
      if (!seven) return std::nullopt;
      value |= uint64_t{*seven & 0x7fu} << shift;
      if ((*seven & 0x80) == 0) return value;
    }
    return std::nullopt;
  }

  std::optional<std::string_view> text() {
    const auto end = std::ranges::find(bytes_, uint8_t{0});
    if (end == bytes_.end()) return std::nullopt;
    const auto length = static_cast<size_t>(end - bytes_.begin());
    const std::string_view text{reinterpret_cast<const char*>(bytes_.data()), length};
    skip(length + 1);
    return text;
  }

 private:
  void skip(size_t size) {
    bytes_ = bytes_.subspan(size);
    address_ += size;
  }

  uint64_t read(uint8_t format) const {
    switch (format) {
      case DW_EH_PE_udata2: return number_at<uint16_t>(bytes_.data());
      case DW_EH_PE_sdata2: return number_at<int16_t>(bytes_.data());
      case DW_EH_PE_udata4: return number_at<uint32_t>(bytes_.data());
      case DW_EH_PE_sdata4: return number_at<int32_t>(bytes_.data());
      default: return number_at<uint64_t>(bytes_.data());
    }
  }

  std::span<const uint8_t> bytes_;
  uint64_t address_;
};

// ---- entries ----

// How the FDEs of a CIE encode addresses, by its augmentation: letters, and data for most of them.
// None for other letters: `S`, a signal's frame; and unknown ones, whose effect is unknown.
std::optional<uint8_t> encoding_in(std::string_view letters, Reader data) {
  uint8_t encoding = DW_EH_PE_absptr;
  for (const char letter : letters) {
    if (letter != 'L' && letter != 'P' && letter != 'R') return std::nullopt;
    const auto byte = data.byte();
    if (!byte) return std::nullopt;
    if (letter == 'R') encoding = *byte;
    if (letter == 'P' && !data.number(*byte)) return std::nullopt;
  }
  return encoding;
}

std::optional<uint8_t> encoding_of(Reader cie) {
  const auto version = cie.byte();
  if (version != 1 && version != 3) return std::nullopt;
  const auto augmentation = cie.text();
  if (!augmentation) return std::nullopt;
  if (augmentation->empty()) return DW_EH_PE_absptr;
  if (!augmentation->starts_with('z')) return std::nullopt;
  const bool has_factors = cie.packed() && cie.packed();
  const bool has_register = version == 1 ? cie.byte().has_value() : cie.packed().has_value();
  const auto size = cie.packed();
  const auto data = has_factors && has_register && size ? cie.piece(*size) : std::nullopt;
  return data ? encoding_in(augmentation->substr(1), *data) : std::nullopt;
}

class TableWalk {
 public:
  explicit TableWalk(Reader table) : rest_(table) {}

  // False if the table has no proper end.
  bool run() {
    while (const auto length = rest_.number(DW_EH_PE_udata4)) {
      if (*length == 0) return true;
      const bool is_long = *length == 0xffffffff;  // the 64-bit form, which linkers do not write
      const auto size = is_long ? rest_.number(DW_EH_PE_udata8) : length;
      const auto entry = size ? rest_.piece(*size) : std::nullopt;
      if (!entry) return false;
      if (!is_long) add(*entry);
    }
    return true;
  }

  std::vector<AddressRange> ranges() && { return std::move(ranges_); }

 private:
  void add(Reader entry) {
    const uint64_t place = entry.address();
    const auto distance = entry.number(DW_EH_PE_udata4);
    if (!distance) return;
    if (*distance == 0)
      add_cie(place, entry);
    else
      add_fde(place - *distance, entry);
  }

  void add_cie(uint64_t place, Reader cie) {
    if (encodings_.size() == kMostCies) return;
    if (const auto encoding = encoding_of(cie)) encodings_.emplace(place - kLengthBytes, *encoding);
  }

  // A CIE is looked up among those already read. To read it again for each of its FDEs, which may
  // refer to any place, could take time in the square of the table's size.
  void add_fde(uint64_t cie, Reader fde) {
    const auto encoding = encodings_.find(cie);
    if (encoding == encodings_.end()) return;
    const auto address = fde.pointer(encoding->second);
    const auto size = fde.number(encoding->second);
    if (!address || !size || *size == 0 || *address + *size < *address) return;
    ranges_.push_back({*address, *size});
  }

  static constexpr size_t kLengthBytes = 4;

  Reader rest_;
  std::map<uint64_t, uint8_t> encodings_;  // by the address of the CIE
  std::vector<AddressRange> ranges_;
};

// ---- choosing plausible ranges ----

bool contains(const AddressRange& whole, const AddressRange& part) {
  const uint64_t before = part.address - whole.address;
  return part.address >= whole.address && before < whole.size && part.size <= whole.size - before;
}

bool is_in_file(const ElfFile& file, const AddressRange& range) {
  const auto first = file.offset_of(range.address);
  const auto last = file.offset_of(range.address + (range.size - 1));
  return first && last && *last - *first == range.size - 1;
}

bool is_of_stubs(const Section& section) {
  static constexpr std::array<std::string_view, 4> kStubs{".plt", ".plt.sec", ".plt.got", ".iplt"};
  return std::ranges::find(kStubs, section.name) != kStubs.end();
}

// Sections with code of functions; sorted.
std::vector<AddressRange> places_of_functions(const ElfFile& file) {
  std::vector<AddressRange> places;
  for (const Section& section : file.code_sections()) {
    const AddressRange place{section.address, section.size};
    if (place.size == 0 || is_of_stubs(section) || !is_in_file(file, place)) continue;
    if (places.size() == kMostCodeSections) return {};
    places.push_back(place);
  }
  std::ranges::sort(places);
  return places;
}

// The last of the sorted ranges that does not start after the address.
const AddressRange* last_up_to(const std::vector<AddressRange>& ranges, uint64_t address) {
  const auto after = std::ranges::upper_bound(ranges, address, {}, &AddressRange::address);
  return after == ranges.begin() ? nullptr : &*std::prev(after);
}

std::vector<AddressRange> without_overlaps(std::vector<AddressRange> ranges) {
  std::ranges::sort(ranges);
  ranges.erase(std::unique(ranges.begin(), ranges.end()), ranges.end());
  std::vector<AddressRange> kept;
  uint64_t taken_up_to = 0;
  bool last_stands = false;
  for (const AddressRange& range : ranges) {
    const bool is_free = range.address >= taken_up_to;
    if (!is_free && last_stands) kept.pop_back();
    if (is_free) kept.push_back(range);
    last_stands = is_free;
    taken_up_to = std::max(taken_up_to, range.address + range.size);
  }
  return kept;
}

std::vector<uint8_t> table_of(const ElfFile& file, const Section& section) {
  if (section.size > kMostTableBytes) return {};
  auto bytes = file.read_at_most(section.offset, section.size);
  return bytes && bytes->size() == section.size ? std::move(*bytes) : std::vector<uint8_t>{};
}

}  // namespace

std::vector<AddressRange> parse_unwind_ranges(std::span<const uint8_t> section, uint64_t address) {
  TableWalk walk{Reader{section, address}};
  if (!walk.run()) return {};
  return std::move(walk).ranges();
}

UnwindRanges::UnwindRanges(const ElfFile& file) {
  const auto section = file.section(".eh_frame");
  if (!section) return;
  auto ranges = parse_unwind_ranges(table_of(file, *section), section->address);
  const auto places = places_of_functions(file);
  std::erase_if(ranges, [&](const AddressRange& range) {
    const AddressRange* place = last_up_to(places, range.address);
    return place == nullptr || !contains(*place, range);
  });
  ranges_ = without_overlaps(std::move(ranges));
}

std::optional<AddressRange> UnwindRanges::range_at(uint64_t address) const {
  const AddressRange* range = last_up_to(ranges_, address);
  return range && contains(*range, {address, 1}) ? std::optional{*range} : std::nullopt;
}

}  // namespace tracectl
