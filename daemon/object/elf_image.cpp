// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/object/elf_image.h"

#include <sys/stat.h>

#include <algorithm>
#include <cstring>

namespace tracectl {

namespace {

Error damaged(const std::string& name, const std::string& what) {
  return Error{Code::invalid, name + " is damaged or truncated: " + what};
}

// libelf skips section headers that it cannot read, and a file without sections is not an error. So
// the ELF header is checked against the file first.
Status check_section_table(const GElf_Ehdr& header, uint64_t file_size, const std::string& name) {
  if (header.e_shoff == 0) return ok();  // some files are stripped of them
  const uint64_t entry =
      header.e_ident[EI_CLASS] == ELFCLASS64 ? sizeof(Elf64_Shdr) : sizeof(Elf32_Shdr);
  if (header.e_shentsize != entry)
    return damaged(name, "its section headers are said to have " +
                             std::to_string(header.e_shentsize) + " bytes each, not " +
                             std::to_string(entry));
  // If the count is 0, it is in the first section header.
  const uint64_t table_bytes = std::max<uint64_t>(header.e_shnum, 1) * entry;
  if (header.e_shoff > file_size || table_bytes > file_size - header.e_shoff)
    return damaged(name, "it has " + std::to_string(file_size) +
                             " bytes, and its section headers lie behind them");
  return ok();
}

Status check_section(const GElf_Shdr& section, size_t number, size_t count, uint64_t file_size,
                     const std::string& name) {
  const std::string which = "section " + std::to_string(number);
  if (section.sh_type != SHT_NOBITS && section.sh_type != SHT_NULL &&
      (section.sh_offset > file_size || section.sh_size > file_size - section.sh_offset))
    return damaged(name, which + " ends behind the file");
  const bool has_symbols = section.sh_type == SHT_SYMTAB || section.sh_type == SHT_DYNSYM;
  if (has_symbols && section.sh_link >= count)
    return damaged(name, which + " has its names in a section " + std::to_string(section.sh_link) +
                             " that is not there");
  return ok();
}

}  // namespace

Result<ElfImage> ElfImage::open(int fd, const std::string& path) {
  elf_version(EV_CURRENT);
  struct stat status {};
  if (::fstat(fd, &status) != 0) return Error::from_errno("fstat " + path);
  return take(elf_begin(fd, ELF_C_READ, nullptr), static_cast<uint64_t>(status.st_size), path);
}

Result<ElfImage> ElfImage::open(Fd fd, const std::string& path) {
  auto image = open(fd.get(), path);
  if (image) image->fd_ = std::move(fd);
  return image;
}

Result<ElfImage> ElfImage::open(std::vector<char> bytes, const std::string& name) {
  elf_version(EV_CURRENT);
  auto image = take(elf_memory(bytes.data(), bytes.size()), bytes.size(), name);
  if (image) image->bytes_ = std::move(bytes);  // a move keeps the bytes' address
  return image;
}

Result<ElfImage> ElfImage::take(Elf* elf, uint64_t file_size, const std::string& name) {
  ElfImage image;
  image.elf_.reset(elf);
  image.file_size_ = file_size;
  if (!elf || elf_kind(elf) != ELF_K_ELF || !gelf_getehdr(elf, &image.header_))
    return Error{Code::invalid, name + " is not an ELF file"};
  if (auto checked = image.check_sections(name); !checked) return checked.error();
  return image;
}

Status ElfImage::check_sections(const std::string& name) const {
  if (auto fits = check_section_table(header_, file_size_, name); !fits) return fits;
  size_t count = 0;
  if (elf_getshdrnum(elf(), &count) != 0) return damaged(name, "its section headers");
  for (size_t i = 0; i < count; ++i) {
    GElf_Shdr section;
    Elf_Scn* const at = elf_getscn(elf(), i);
    if (!at || !gelf_getshdr(at, &section))
      return damaged(name, "section header " + std::to_string(i) + " cannot be read");
    if (auto fits = check_section(section, i, count, file_size_, name); !fits) return fits;
  }
  return ok();
}

// ---- sections ----

std::optional<std::pair<Elf_Scn*, GElf_Shdr>> ElfImage::find_section(std::string_view name) const {
  size_t names = 0;
  if (elf_getshdrstrndx(elf(), &names) != 0) return std::nullopt;
  for (Elf_Scn* at = elf_nextscn(elf(), nullptr); at; at = elf_nextscn(elf(), at)) {
    GElf_Shdr header;
    if (!gelf_getshdr(at, &header)) continue;
    const char* text = elf_strptr(elf(), names, header.sh_name);
    if (text && name == text) return std::pair{at, header};
  }
  return std::nullopt;
}

std::optional<Section> ElfImage::section(std::string_view name) const {
  const auto found = find_section(name);
  if (!found) return std::nullopt;
  const GElf_Shdr& header = found->second;
  return Section{std::string(name), header.sh_addr, header.sh_offset, header.sh_size};
}

std::vector<Section> ElfImage::code_sections() const {
  return sections_where([](const GElf_Shdr& header) {
    constexpr uint64_t kFlags = SHF_ALLOC | SHF_EXECINSTR;
    return (header.sh_flags & kFlags) == kFlags && header.sh_type != SHT_NOBITS;
  });
}

std::vector<Section> ElfImage::data_sections() const {
  return sections_where([](const GElf_Shdr& header) {
    return (header.sh_flags & SHF_ALLOC) && !(header.sh_flags & (SHF_EXECINSTR | SHF_TLS));
  });
}

std::vector<Section> ElfImage::sections_where(bool (*is_wanted)(const GElf_Shdr&)) const {
  std::vector<Section> sections;
  size_t names = 0;
  if (elf_getshdrstrndx(elf(), &names) != 0) return sections;
  for (Elf_Scn* at = elf_nextscn(elf(), nullptr); at; at = elf_nextscn(elf(), at)) {
    GElf_Shdr header;
    if (!gelf_getshdr(at, &header) || !is_wanted(header)) continue;
    if (const char* name = elf_strptr(elf(), names, header.sh_name))
      sections.push_back({name, header.sh_addr, header.sh_offset, header.sh_size});
  }
  return sections;
}

std::optional<std::vector<uint8_t>> ElfImage::section_bytes(std::string_view name) const {
  const auto found = find_section(name);
  if (!found || found->second.sh_type == SHT_NOBITS) return std::nullopt;
  const Elf_Data* data = elf_rawdata(found->first, nullptr);
  if (!data || !data->d_buf) return std::nullopt;
  const auto* bytes = static_cast<const uint8_t*>(data->d_buf);
  return std::vector<uint8_t>(bytes, bytes + data->d_size);
}

std::optional<std::vector<uint8_t>> ElfImage::unpacked_bytes(std::string_view name) const {
  const auto found = find_section(name);
  const bool is_packed = found && (found->second.sh_flags & SHF_COMPRESSED);
  if (is_packed && elf_compress(found->first, 0, 0) < 0) return std::nullopt;
  return section_bytes(name);  // as libelf has it now
}

std::string_view ElfImage::unpacked_view(std::string_view name) const {
  const auto found = find_section(name);
  if (!found || found->second.sh_type == SHT_NOBITS) return {};
  if ((found->second.sh_flags & SHF_COMPRESSED) && elf_compress(found->first, 0, 0) < 0) return {};
  const Elf_Data* data = elf_rawdata(found->first, nullptr);
  if (!data || !data->d_buf) return {};
  return {static_cast<const char*>(data->d_buf), data->d_size};
}

std::string ElfImage::build_id() const {
  const auto bytes = section_bytes(".note.gnu.build-id");
  constexpr size_t kHeader = 16;  // three words and the owner "GNU\0"
  if (!bytes || bytes->size() < kHeader) return {};
  uint32_t size = 0;
  std::memcpy(&size, bytes->data() + 4, sizeof(size));
  if (size > 64 || size > bytes->size() - kHeader) return {};
  return hex_of(std::span(*bytes).subspan(kHeader, size));
}

// ---- symbols ----

void ElfImage::each_symbol(uint32_t table_type, size_t most, const OnSymbol& on_symbol) const {
  for (Elf_Scn* at = elf_nextscn(elf(), nullptr); at; at = elf_nextscn(elf(), at)) {
    GElf_Shdr header;
    if (gelf_getshdr(at, &header) && header.sh_type == table_type)
      each_symbol_of(at, header, most, on_symbol);
  }
}

void ElfImage::each_symbol_of(Elf_Scn* section, const GElf_Shdr& header, size_t most,
                              const OnSymbol& on_symbol) const {
  Elf_Data* data = elf_getdata(section, nullptr);
  if (!data || !data->d_buf) return;
  const size_t count = std::min(data->d_size / gelf_fsize(elf(), ELF_T_SYM, 1, EV_CURRENT), most);
  for (size_t i = 0; i < count; ++i) {
    GElf_Sym symbol;
    if (!gelf_getsym(data, static_cast<int>(i), &symbol)) return;
    // libelf has checked that it lies in the string table and ends there.
    const char* name = elf_strptr(elf(), header.sh_link, symbol.st_name);
    if (name) on_symbol(name, symbol);
  }
}

}  // namespace tracectl
