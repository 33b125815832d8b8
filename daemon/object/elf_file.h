// SPDX-License-Identifier: BSD-2-Clause
//
// Reads ELF files of programs to be traced. Files are untrusted: every size and offset in them is
// checked against the file before it is used.
#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/base/result.h"
#include "daemon/object/named_debug_file.h"

namespace tracectl {

inline constexpr size_t kLongestSymbol = 64 << 10;  // bytes; symbols of this length are skipped

class ElfImage;
struct GoFunction;

// A function symbol, defined in executable code.
struct Function {
  std::string name;       // as in the symbol table, mangled
  uint64_t address = 0;   // in the file's own address space
  uint64_t size = 0;      // bytes; 0 if the symbol does not say
  uint64_t offset = 0;    // of its first byte, in the file
  bool exported = false;  // in the dynamic symbol table

  bool operator==(const Function&) const = default;
};

// In the file's own address space.
struct AddressRange {
  uint64_t address = 0;
  uint64_t size = 0;  // bytes, at least one

  auto operator<=>(const AddressRange&) const = default;
};

struct Section {
  std::string name;
  uint64_t address = 0;
  uint64_t offset = 0;
  uint64_t size = 0;
};

// The distribution's directory of debug files.
inline constexpr const char* kDebugRoot = "/usr/lib/debug";

// An ELF64 executable or shared library for x86-64. Not safe for use by two threads at once.
class ElfFile {
 public:
  // Keeps a duplicate of `fd`. `path` is used in messages, and to find the debug file if none is named. Fails
  // if the one that is named does not belong to it.
  static Result<ElfFile> open(int fd, const std::string& path,
                              const std::string& debug_root = kDebugRoot,
                              std::optional<NamedDebugFile> named = std::nullopt);
  ElfFile(ElfFile&&) noexcept;
  ElfFile& operator=(ElfFile&&) noexcept;
  ~ElfFile();

  const std::string& path() const;
  const std::string& build_id() const;  // hex; empty if the file has none
  std::optional<std::string> interpreter() const;

  // Convert between the file's own addresses and offsets in the file, by the program headers. None
  // for an address that has no bytes in the file.
  std::optional<uint64_t> offset_of(uint64_t address) const;
  std::optional<uint64_t> address_of(uint64_t offset) const;

  // Reads up to `size` bytes, fewer at the file's end; at least one.
  Result<std::vector<uint8_t>> read_at_most(uint64_t offset, uint64_t size) const;

  // All functions of .symtab, .dynsym, the separate debug file (the one that is named, or by build id, by debug link)
  // and .gnu_debugdata; and of Go's own table, if a Go program has no symbols; sorted by address, then
  // name. Empty for a file without symbols. Of a debug file that is named only functions by the file's own unwind table,
  // with the size that it says.
  const std::vector<Function>& functions() const;
  // Of the same tables, those that choose an implementation when the file is loaded (ifuncs.h): the address is that of
  // the resolver.
  const std::vector<Function>& indirect_functions() const;

  // The function with a size that contains this address, from the same symbols.
  std::optional<Function> function_at(uint64_t address) const;

  // The ranges of data symbols from the same tables: variables, tables, vtables; sorted. Only
  // ranges within the file's bytes; they may overlap.
  const std::vector<AddressRange>& variables() const;

  // Whether it runs only at the addresses it is linked for.
  bool is_fixed() const;
  // Whether it was linked as a program. Not known of position-independent ones before binutils 2.26.
  bool is_program() const;

  // The file with the debug information: the one that was named, another image of this file, or its separate
  // debug file.
  std::optional<ElfImage> open_debug_info() const;
  const std::string& debug_root() const;

  // Another image of this file, which borrows nothing from it.
  Result<ElfImage> open_again() const;

  // The functions of a Go program by Go's own table, or why it cannot be read; null for other files.
  const Result<std::vector<GoFunction>>* go_functions() const;

  std::optional<Section> section(std::string_view name) const;
  std::vector<Section> code_sections() const;  // loaded from the file, and executable
  // Calls `take` with each definition in the file's own tables and those of its debug files.
  struct Definition {
    std::string_view name;
    uint64_t address =
        0;  // in the file's own address space; of a thread-local variable something else
    unsigned char type = 0;        // as STT_FUNC
    unsigned char visibility = 0;  // as STV_DEFAULT
    bool exported = false;         // in the dynamic symbol table
    bool absolute = false;         // a number, which is no address
  };
  using OnDefinition = std::function<void(const Definition&)>;
  void each_definition(const OnDefinition& take) const;
  std::optional<uint64_t> symbol_address(std::string_view name) const;  // of any kind

 private:
  struct Impl;
  explicit ElfFile(std::unique_ptr<Impl> impl);
  std::vector<Function> read_symbols(unsigned char type) const;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tracectl
