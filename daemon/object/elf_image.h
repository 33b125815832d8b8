// SPDX-License-Identifier: BSD-2-Clause
//
// One ELF file, opened with libelf: the program itself, or a file with its debug symbols.
#pragma once

#include <gelf.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "daemon/base/fd.h"
#include "daemon/base/hex.h"
#include "daemon/base/result.h"
#include "daemon/object/elf_file.h"

namespace tracectl {

class ElfImage {
 public:
  ElfImage() = default;
  // Borrows `fd` as long as the image lives.
  static Result<ElfImage> open(int fd, const std::string& path);
  static Result<ElfImage> open(Fd fd, const std::string& path);
  static Result<ElfImage> open(std::vector<char> bytes, const std::string& name);

  Elf* elf() const { return elf_.get(); }
  const GElf_Ehdr& header() const { return header_; }
  uint64_t file_size() const { return file_size_; }

  std::optional<Section> section(std::string_view name) const;
  std::vector<Section> code_sections() const;  // loaded from the file, and executable
  std::vector<Section> data_sections()
      const;  // that have a place in memory, and not one in each thread
  std::optional<std::vector<uint8_t>> section_bytes(std::string_view name) const;
  // As above, unpacked if it is compressed. The caller has checked the sizes.
  std::optional<std::vector<uint8_t>> unpacked_bytes(std::string_view name) const;
  // As above, without a copy; empty if there is none.
  std::string_view unpacked_view(std::string_view name) const;
  std::string build_id() const;  // hex, empty if none

  // Calls `on_symbol` with each symbol of each table of the type (SHT_SYMTAB, SHT_DYNSYM), up to
  // `most`.
  using OnSymbol = std::function<void(const char* name, const GElf_Sym& symbol)>;
  void each_symbol(uint32_t table_type, size_t most, const OnSymbol& on_symbol) const;

 private:
  struct End {
    void operator()(Elf* elf) const { elf_end(elf); }
  };

  static Result<ElfImage> take(Elf* elf, uint64_t file_size, const std::string& name);
  std::vector<Section> sections_where(bool (*is_wanted)(const GElf_Shdr&)) const;
  Status check_sections(const std::string& name) const;
  std::optional<std::pair<Elf_Scn*, GElf_Shdr>> find_section(std::string_view name) const;
  void each_symbol_of(Elf_Scn* section, const GElf_Shdr& header, size_t most,
                      const OnSymbol& on_symbol) const;

  Fd fd_;                    // of its own file, if any
  std::vector<char> bytes_;  // of an image in memory; outlives elf_
  std::unique_ptr<Elf, End> elf_;
  GElf_Ehdr header_{};
  uint64_t file_size_ = 0;
};

}  // namespace tracectl
