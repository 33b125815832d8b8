// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/object/pointers.h"

#include <gelf.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <span>
#include <utility>

#include "daemon/object/code/machine.h"
#include "daemon/object/elf_image.h"

namespace tracectl {
namespace {

// Pointers beyond this are ignored. libLLVM has 700,000.
constexpr size_t kMostPointers = 4'000'000;
constexpr uint64_t kWordBytes = 8;

struct Symbols {
  Elf_Data* data;
  size_t names;  // the section
};

// Words of the file, read in the order of their addresses.
class Words {
 public:
  explicit Words(const ElfFile& file) : file_(file) {}

  std::optional<uint64_t> at(uint64_t address) {
    const auto offset = file_.offset_of(address);
    if (!offset || !holds(*offset)) read(offset);
    if (!offset || !holds(*offset)) return std::nullopt;
    uint64_t word = 0;
    std::memcpy(&word, bytes_.data() + (*offset - first_), sizeof word);
    return word;
  }

 private:
  static constexpr uint64_t kBlockBytes = 64 << 10;

  bool holds(uint64_t offset) const {
    return offset >= first_ && bytes_.size() >= kWordBytes &&
           offset - first_ <= bytes_.size() - kWordBytes;
  }

  void read(std::optional<uint64_t> offset) {
    auto bytes = offset ? file_.read_at_most(*offset, kBlockBytes) : Error{};
    bytes_ = bytes ? std::move(*bytes) : std::vector<uint8_t>{};
    first_ = offset.value_or(0);
  }

  const ElfFile& file_;
  std::vector<uint8_t> bytes_;
  uint64_t first_ = 0;  // offset in the file
};

class PointerReader {
 public:
  PointerReader(const ElfFile& file, const ElfImage& image) : elf_(image.elf()), words_(file) {}

  std::vector<Pointer> run() {
    for (Elf_Scn* at = elf_nextscn(elf_, nullptr); at; at = elf_nextscn(elf_, at)) {
      GElf_Shdr header;
      if (!gelf_getshdr(at, &header) || (header.sh_flags & SHF_ALLOC) == 0) continue;
      if (header.sh_type == SHT_RELA) add_with_addends(at, symbols_of(header));
      if (header.sh_type == SHT_RELR) add_packed(at);
    }
    return sorted();
  }

 private:
  std::optional<Symbols> symbols_of(const GElf_Shdr& relocations) const {
    Elf_Scn* const section = elf_getscn(elf_, relocations.sh_link);
    GElf_Shdr header;
    if (!section || !gelf_getshdr(section, &header)) return std::nullopt;
    if (header.sh_type != SHT_DYNSYM && header.sh_type != SHT_SYMTAB) return std::nullopt;
    Elf_Data* const data = elf_getdata(section, nullptr);
    if (!data || !data->d_buf) return std::nullopt;
    return Symbols{data, header.sh_link};
  }

  void add_with_addends(Elf_Scn* section, std::optional<Symbols> symbols) {
    Elf_Data* const data = elf_getdata(section, nullptr);
    if (!data || !data->d_buf) return;
    GElf_Rela relocation;
    for (int i = 0; gelf_getrela(data, i, &relocation) && !is_full(); ++i) add(relocation, symbols);
  }

  void add(const GElf_Rela& relocation, const std::optional<Symbols>& symbols) {
    const auto addend = static_cast<uint64_t>(relocation.r_addend);
    switch (relocation_of(GELF_R_TYPE(relocation.r_info))) {
      case Relocation::relative: add_target(relocation.r_offset, addend, false); break;
      case Relocation::resolved: add_target(relocation.r_offset, addend, true); break;
      case Relocation::of_symbol:
        if (symbols) add_symbol(relocation, *symbols);
        break;
      case Relocation::other: break;
    }
  }

  void add_symbol(const GElf_Rela& relocation, const Symbols& symbols) {
    const auto number = GELF_R_SYM(relocation.r_info);
    GElf_Sym symbol;
    if (number > INT32_MAX || !gelf_getsym(symbols.data, static_cast<int>(number), &symbol)) return;
    const auto type = GELF_ST_TYPE(symbol.st_info);
    if (symbol.st_shndx != SHN_UNDEF)
      add_target(relocation.r_offset, symbol.st_value + static_cast<uint64_t>(relocation.r_addend),
                 type == STT_GNU_IFUNC);
    else if (type != STT_OBJECT && type != STT_TLS)
      add_import(relocation.r_offset, elf_strptr(elf_, symbols.names, symbol.st_name));
  }

  void add_target(uint64_t place, uint64_t target, bool by_resolver) {
    pointers_.push_back({.place = place, .target = target, .by_resolver = by_resolver});
  }

  void add_import(uint64_t place, const char* name) {
    const size_t length = name ? ::strnlen(name, kLongestSymbol) : 0;
    if (length > 0 && length < kLongestSymbol)
      pointers_.push_back({.place = place, .import = std::string(name, length)});
  }

  // An even entry is the place of a pointer. The other 63 bits of an odd entry say which of the
  // next 63 words are pointers, too.
  void add_packed(Elf_Scn* section) {
    const Elf_Data* const data = elf_rawdata(section, nullptr);
    if (!data || !data->d_buf) return;
    const std::span bytes{static_cast<const uint8_t*>(data->d_buf), data->d_size};
    uint64_t next = 0;
    for (size_t at = 0; bytes.size() - at >= kWordBytes && !is_full(); at += kWordBytes) {
      uint64_t entry = 0;
      std::memcpy(&entry, bytes.data() + at, sizeof entry);
      next = entry & 1 ? add_words(next, entry >> 1) : add_word(entry);
    }
  }

  uint64_t add_words(uint64_t first, uint64_t which) {
    constexpr uint64_t kWords = 63;
    for (uint64_t word = 0; which >> word != 0 && word < kWords; ++word)
      if (which >> word & 1) add_word(first + word * kWordBytes);
    return first + kWords * kWordBytes;
  }

  uint64_t add_word(uint64_t place) {
    if (const auto target = words_.at(place)) add_target(place, *target, false);
    return place + kWordBytes;
  }

  bool is_full() const { return pointers_.size() >= kMostPointers; }

  std::vector<Pointer> sorted() {
    std::ranges::stable_sort(pointers_, {}, &Pointer::place);
    const auto same = [](const Pointer& a, const Pointer& b) { return a.place == b.place; };
    pointers_.erase(std::unique(pointers_.begin(), pointers_.end(), same), pointers_.end());
    return std::move(pointers_);
  }

  Elf* elf_;
  Words words_;
  std::vector<Pointer> pointers_;
};

}  // namespace

std::vector<Pointer> read_pointers(const ElfFile& file) {
  const auto image = file.open_again();
  if (!image) return {};
  return PointerReader{file, *image}.run();
}

}  // namespace tracectl
