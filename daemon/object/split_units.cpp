// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/object/split_units.h"

#include <algorithm>
#include <cstring>
#include <filesystem>

#include "daemon/object/debug_files.h"

namespace tracectl {
namespace {

using dwarf::Die;

constexpr uint64_t kMostSplitBytes = 1 << 30;  // of all units of a file
constexpr size_t kLongestSplitPath = 4095;

// ---- the skeleton ----

std::string text_of(const Die& unit, unsigned name) {
  auto found = dwarf::attribute(unit, name);
  const char* text = found ? ::dwarf_formstring(&*found) : nullptr;
  if (!text || ::strnlen(text, kLongestSplitPath + 1) > kLongestSplitPath) return {};
  return text;
}

std::string either(std::string one, std::string other) { return one.empty() ? other : one; }

uint64_t place_of(const Die& unit, unsigned name) {
  auto found = dwarf::attribute(unit, name);
  Dwarf_Word place = 0;
  return found && ::dwarf_formudata(&*found, &place) == 0 ? place : 0;
}

uint64_t low_address(const Die& unit) {
  Dwarf_Addr address = 0;
  return ::dwarf_lowpc(const_cast<Die*>(&unit), &address) == 0 ? address : 0;
}

// ---- a file in memory ----

struct SplitPart {
  std::string_view name;
  SectionBytes bytes;
};

void append(std::vector<char>& to, const void* bytes, size_t size) {
  const auto* first = static_cast<const char*>(bytes);
  to.insert(to.end(), first, first + size);
}

Elf64_Shdr header_of(const SplitPart& part, uint64_t offset, uint64_t name) {
  Elf64_Shdr header{};
  header.sh_name = static_cast<Elf64_Word>(name);
  header.sh_type = SHT_PROGBITS;
  header.sh_offset = offset;
  header.sh_size = part.bytes.size();
  header.sh_addralign = 1;
  return header;
}

// An ELF file with these sections.
std::vector<char> file_of_parts(std::vector<SplitPart> parts, uint16_t machine) {
  Elf64_Ehdr header{};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_ident[EI_VERSION] = EV_CURRENT;
  header.e_type = ET_REL;
  header.e_machine = machine;
  header.e_version = EV_CURRENT;
  header.e_ehsize = sizeof(header);
  header.e_shentsize = sizeof(Elf64_Shdr);

  SplitPart names{".shstrtab", SectionBytes(1)};
  std::vector<uint64_t> name_places;
  parts.push_back({names.name, {}});
  for (const SplitPart& part : parts) {
    name_places.push_back(names.bytes.size());
    names.bytes.insert(names.bytes.end(), part.name.begin(), part.name.end());
    names.bytes.push_back(0);
  }
  parts.back() = std::move(names);

  std::vector<char> file;
  append(file, &header, sizeof(header));
  std::vector<Elf64_Shdr> sections(1);
  for (size_t i = 0; i < parts.size(); ++i) {
    sections.push_back(header_of(parts[i], file.size(), name_places[i]));
    append(file, parts[i].bytes.data(), parts[i].bytes.size());
  }
  sections.back().sh_type = SHT_STRTAB;
  file.resize((file.size() + 7) / 8 * 8);
  header.e_shoff = file.size();
  header.e_shnum = static_cast<Elf64_Half>(sections.size());
  header.e_shstrndx = static_cast<Elf64_Half>(sections.size() - 1);
  append(file, sections.data(), sections.size() * sizeof(Elf64_Shdr));
  std::memcpy(file.data(), &header, sizeof(header));
  return file;
}

// The unit of a file that may have several.
std::optional<Die> unit_with(Dwarf* dwarf, uint64_t id) {
  Dwarf_CU* unit = nullptr;
  uint8_t kind = 0;
  Die die;
  while (::dwarf_get_units(dwarf, unit, &unit, nullptr, &kind, &die, nullptr) == 0) {
    uint64_t found = 0;
    if (kind == DW_UT_split_compile &&
        ::dwarf_cu_info(unit, nullptr, nullptr, nullptr, nullptr, &found, nullptr, nullptr) == 0 &&
        found == id)
      return die;
  }
  return std::nullopt;
}

}  // namespace

std::optional<Skeleton> read_skeleton(const Die& unit) {
  Skeleton skeleton;
  Dwarf_Half version = 0;
  if (::dwarf_cu_info(unit.cu, &version, nullptr, nullptr, nullptr, &skeleton.id, nullptr,
                      nullptr) != 0)
    return std::nullopt;
  const bool is_standard = version >= 5;
  skeleton.version = version;
  skeleton.file = either(text_of(unit, DW_AT_dwo_name), text_of(unit, DW_AT_GNU_dwo_name));
  skeleton.directory = text_of(unit, DW_AT_comp_dir);
  skeleton.base = low_address(unit);
  skeleton.addresses = place_of(unit, is_standard ? DW_AT_addr_base : DW_AT_GNU_addr_base);
  skeleton.ranges = is_standard ? 0 : place_of(unit, DW_AT_GNU_ranges_base);
  if (skeleton.file.empty()) return std::nullopt;
  return skeleton;
}

// ---- the parts of a unit ----

size_t SplitUnits::add(Skeleton skeleton) {
  addresses_.bases.push_back(skeleton.addresses);
  ranges_.bases.push_back(skeleton.ranges);
  skeletons_.push_back(std::move(skeleton));
  return skeletons_.size() - 1;
}

void SplitUnits::prepare(const ElfImage& image) {
  if (std::exchange(is_prepared_, true)) return;
  if (const auto package = open_split_file(program_ + ".dwp"))
    package_ = DwarfPackage::open(*package);
  addresses_.bytes = image.unpacked_bytes(".debug_addr").value_or(SectionBytes{});
  ranges_.bytes = image.unpacked_bytes(".debug_ranges").value_or(SectionBytes{});
  std::ranges::sort(addresses_.bases);
  std::ranges::sort(ranges_.bases);
}

// Ends where the next unit's part begins, so that all parts together are not more than the section.
SectionBytes SplitUnits::Shared::part_from(uint64_t base) const {
  const auto next = std::ranges::upper_bound(bases, base);
  const uint64_t end = std::min<uint64_t>(next == bases.end() ? UINT64_MAX : *next, bytes.size());
  if (base >= end) return {};
  return {bytes.begin() + static_cast<std::ptrdiff_t>(base),
          bytes.begin() + static_cast<std::ptrdiff_t>(end)};
}

SectionBytes SplitUnits::addresses_of(const Skeleton& skeleton) const {
  SectionBytes part = addresses_.part_from(skeleton.addresses);
  for (size_t at = 0; at + sizeof(uint64_t) <= part.size(); at += sizeof(uint64_t)) {
    uint64_t address = 0;
    std::memcpy(&address, part.data() + at, sizeof(address));
    address -= skeleton.base;
    std::memcpy(part.data() + at, &address, sizeof(address));
  }
  return part;
}

// Only of units that begin at 0, as those do that are in several places: in others some addresses
// may count from the beginning, and some not.
SectionBytes SplitUnits::ranges_of(const Skeleton& skeleton) const {
  if (skeleton.version >= 5 || skeleton.base != 0) return {};
  return ranges_.part_from(skeleton.ranges);
}

// GDB searches in these places, too.
std::vector<std::string> SplitUnits::places_of(const Skeleton& skeleton) const {
  using Path = std::filesystem::path;
  const Path folder = Path(program_).parent_path(), file = skeleton.file;
  std::vector<std::string> places;
  for (const Path& place :
       {Path(skeleton.directory) / file, folder / file, folder / file.filename()}) {
    const std::string plain = place.lexically_normal().string();
    if (place.is_absolute() && std::ranges::find(places, plain) == places.end())
      places.push_back(plain);
  }
  return places;
}

// ---- opening ----

std::optional<Die> SplitUnits::open(const ElfImage& image, size_t number) {
  prepare(image);
  const Skeleton& skeleton = skeletons_[number];
  const uint16_t machine = image.header().e_machine;
  if (auto packed = package_ ? package_->unit(skeleton.id) : std::nullopt)
    if (auto unit = join(skeleton, std::move(*packed), machine)) return unit;
  for (const std::string& place : places_of(skeleton)) {
    const auto file = open_split_file(place);
    auto sections = file ? split_sections(*file) : std::nullopt;
    if (!sections) continue;
    if (auto unit = join(skeleton, std::move(*sections), machine)) return unit;
  }
  return std::nullopt;
}

std::optional<Die> SplitUnits::join(const Skeleton& skeleton, SplitSections sections,
                                    uint16_t machine) {
  std::vector<SplitPart> parts{{".debug_addr.dwo", addresses_of(skeleton)},
                               {".debug_ranges.dwo", ranges_of(skeleton)}};
  for (size_t i = 0; i < sections.size(); ++i)
    parts.push_back({kSplitSections[i], std::move(sections[i])});
  std::erase_if(parts, [](const SplitPart& part) { return part.bytes.empty(); });
  uint64_t bytes = 0;
  for (const SplitPart& part : parts) bytes += part.bytes.size();
  if (bytes > kMostSplitBytes - bytes_) return std::nullopt;

  auto made = ElfImage::open(file_of_parts(std::move(parts), machine), skeleton.file);
  if (!made) return std::nullopt;
  Opened opened{std::make_unique<ElfImage>(std::move(*made)), nullptr};
  opened.dwarf.reset(::dwarf_begin_elf(opened.image->elf(), DWARF_C_READ, nullptr));
  const auto unit = opened.dwarf ? unit_with(opened.dwarf.get(), skeleton.id) : std::nullopt;
  if (!unit) return std::nullopt;
  bytes_ += bytes;
  opened_.push_back(std::move(opened));
  return unit;
}

}  // namespace tracectl
