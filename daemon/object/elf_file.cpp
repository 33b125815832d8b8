// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/object/elf_file.h"

#include <fcntl.h>
#include <gelf.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <tuple>
#include <unordered_map>

#include "daemon/base/fd.h"
#include "daemon/object/code/machine.h"
#include "daemon/object/debug_files.h"
#include "daemon/object/elf_image.h"
#include "daemon/object/go_functions.h"
#include "daemon/object/unwind_ranges.h"

namespace tracectl {
namespace {

// Files beyond these limits are refused as absurd. libLLVM, the largest of Debian, has 150,000
// functions.
constexpr size_t kMostSymbols = 10'000'000;
constexpr uint64_t kMostReadBytes = 64 << 20;

struct Segment {
  uint64_t address, offset, file_size;
  bool executable;
};

}  // namespace

struct ElfFile::Impl {
  std::string path;
  std::string debug_root;
  std::optional<NamedDebugFile> named;
  Fd fd;
  ElfImage image;
  std::vector<Segment> segments;
  std::string build_id;
  // Read on first use.
  mutable std::optional<std::vector<Function>> functions;
  mutable std::optional<std::vector<Function>> indirect_functions;
  mutable std::optional<std::vector<AddressRange>> variables;
  mutable std::optional<std::unordered_map<std::string, uint64_t>> addresses;
  mutable bool has_looked_for_go = false;
  mutable std::optional<Result<std::vector<GoFunction>>> go_functions;

  Status read_segments();
  std::vector<ElfImage> debug_files() const {
    return open_debug_files(image, path, build_id, debug_root, named ? &*named : nullptr);
  }
  const Segment* segment_of(uint64_t address) const;
  // Symbols of one type, as STT_FUNC.
  struct Symbols {
    unsigned char type;
    std::vector<Function> all = {};
  };
  void add_symbols(const ElfImage& from, uint32_t table_type, bool exported, Symbols& to) const;
  std::vector<Function> read_symbols(unsigned char type, const UnwindRanges* ranges) const;
  void add_go_functions(const std::vector<GoFunction>& from, std::vector<Function>& to) const;
  void add_variables(const ElfImage& from, uint32_t table_type,
                     std::vector<AddressRange>& to) const;
  void read_variables() const;
};

ElfFile::ElfFile(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
ElfFile::ElfFile(ElfFile&&) noexcept = default;
ElfFile& ElfFile::operator=(ElfFile&&) noexcept = default;
ElfFile::~ElfFile() = default;

// ---- opening ----

namespace {

const char* machine_name(uint16_t machine) {
  switch (machine) {
    case EM_X86_64: return "x86-64";
    case EM_AARCH64: return "aarch64";
    case EM_386: return "i386";
    case EM_ARM: return "arm";
    case EM_RISCV: return "riscv";
    case EM_PPC64: return "ppc64";
    case EM_S390: return "s390x";
    default: return nullptr;
  }
}

Status check_header(const GElf_Ehdr& header, const std::string& path) {
  if (header.e_ident[EI_CLASS] != ELFCLASS64)
    return Error{Code::unsupported,
                 path + " is a 32-bit program; only " + name_of_machine() + " is traced"};
  if (header.e_ident[EI_DATA] != ELFDATA2LSB)
    return Error{Code::unsupported,
                 path + " is a big-endian program; only " + name_of_machine() + " is traced"};
  if (header.e_machine != elf_machine()) {
    const char* name = machine_name(header.e_machine);
    return Error{Code::unsupported,
                 path + " is for another architecture (" +
                     (name ? name : "machine " + std::to_string(header.e_machine)) + "); only " +
                     name_of_machine() + " is traced"};
  }
  if (header.e_type != ET_EXEC && header.e_type != ET_DYN)
    return Error{Code::invalid, path +
                                    " is an ELF file, but neither an executable nor a shared "
                                    "library; nothing runs it"};
  return ok();
}

}  // namespace

Result<ElfFile> ElfFile::open(int fd, const std::string& path, const std::string& debug_root,
                              std::optional<NamedDebugFile> named) {
  auto impl = std::make_unique<Impl>();
  impl->path = path;
  impl->debug_root = debug_root;
  impl->fd = Fd{::fcntl(fd, F_DUPFD_CLOEXEC, 0)};
  if (!impl->fd) return Error::from_errno("duplicate the descriptor of " + path);
  auto image = ElfImage::open(impl->fd.get(), path);
  if (!image) return image.error();
  impl->image = std::move(*image);
  if (auto fit = check_header(impl->image.header(), path); !fit) return fit.error();
  if (auto read = impl->read_segments(); !read) return read.error();
  impl->build_id = impl->image.build_id();
  if (named)
    if (auto its = open_named(*named, path, impl->build_id); !its) return its.error();
  impl->named = std::move(named);
  return ElfFile{std::move(impl)};
}

Status ElfFile::Impl::read_segments() {
  size_t count = 0;
  if (elf_getphdrnum(image.elf(), &count) != 0)
    return Error{Code::invalid, path + " has damaged program headers"};
  const uint64_t file_size = image.file_size();
  for (size_t i = 0; i < count; ++i) {
    GElf_Phdr header;
    if (!gelf_getphdr(image.elf(), static_cast<int>(i), &header))
      return Error{Code::invalid, path + " is truncated: its program headers are not all there"};
    if (header.p_type != PT_LOAD) continue;
    if (header.p_offset > file_size || header.p_filesz > file_size - header.p_offset)
      return Error{Code::invalid, path + " is truncated: it has " + std::to_string(file_size) +
                                      " bytes, and a segment ends behind them"};
    segments.push_back(
        {header.p_vaddr, header.p_offset, header.p_filesz, (header.p_flags & PF_X) != 0});
  }
  if (segments.empty()) return Error{Code::invalid, path + " has nothing that is loaded"};
  return ok();
}

// ---- addresses ----

const std::string& ElfFile::path() const { return impl_->path; }
const std::string& ElfFile::build_id() const { return impl_->build_id; }

const Segment* ElfFile::Impl::segment_of(uint64_t address) const {
  for (const Segment& segment : segments)
    if (address >= segment.address && address - segment.address < segment.file_size)
      return &segment;
  return nullptr;
}

std::optional<uint64_t> ElfFile::offset_of(uint64_t address) const {
  const Segment* segment = impl_->segment_of(address);
  if (!segment) return std::nullopt;
  return segment->offset + (address - segment->address);
}

std::optional<uint64_t> ElfFile::address_of(uint64_t offset) const {
  for (const Segment& segment : impl_->segments)
    if (offset >= segment.offset && offset - segment.offset < segment.file_size)
      return segment.address + (offset - segment.offset);
  return std::nullopt;
}

Result<std::vector<uint8_t>> ElfFile::read_at_most(uint64_t offset, uint64_t size) const {
  const uint64_t file_size = impl_->image.file_size();
  if (offset >= file_size || size == 0)
    return Error{Code::invalid, impl_->path + " has no byte at " + std::to_string(offset)};
  std::vector<uint8_t> bytes(std::min({size, file_size - offset, kMostReadBytes}));
  const ssize_t count =
      ::pread(impl_->fd.get(), bytes.data(), bytes.size(), static_cast<off_t>(offset));
  if (count < 0) return Error::from_errno("read " + impl_->path);
  if (count == 0) return Error{Code::invalid, impl_->path + " was truncated while it was read"};
  bytes.resize(static_cast<size_t>(count));
  return bytes;
}

std::optional<std::string> ElfFile::interpreter() const {
  const auto found = section(".interp");
  if (!found || found->size == 0 || found->size > 4096) return std::nullopt;
  auto bytes = read_at_most(found->offset, found->size);
  if (!bytes) return std::nullopt;
  return std::string(bytes->begin(), std::find(bytes->begin(), bytes->end(), uint8_t{0}));
}

std::optional<Section> ElfFile::section(std::string_view name) const {
  return impl_->image.section(name);
}

std::vector<Section> ElfFile::code_sections() const { return impl_->image.code_sections(); }

// ---- symbols ----

void ElfFile::Impl::add_symbols(const ElfImage& from, uint32_t table_type, bool exported,
                                Symbols& to) const {
  from.each_symbol(table_type, kMostSymbols, [&](const char* name, const GElf_Sym& symbol) {
    if (GELF_ST_TYPE(symbol.st_info) != to.type || symbol.st_shndx == SHN_UNDEF) return;
    const Segment* segment = segment_of(symbol.st_value);
    const size_t length = ::strnlen(name, kLongestSymbol);
    if (!segment || !segment->executable || length == 0 || length == kLongestSymbol) return;
    const uint64_t left = segment->file_size - (symbol.st_value - segment->address);
    to.all.push_back({std::string(name, length), symbol.st_value, std::min(symbol.st_size, left),
                      segment->offset + (symbol.st_value - segment->address), exported});
  });
}

namespace {

// Anybody can write a file with any build id, so the symbols of one that a user names must be functions by the traced
// file's own table: a probe within an instruction would damage the program.
void keep_functions_of(const UnwindRanges& ranges, std::vector<Function>& all) {
  std::erase_if(all, [&](Function& function) {
    const auto range = ranges.range_at(function.address);
    if (!range || range->address != function.address) return true;
    function.size = range->size;
    return false;
  });
}

}  // namespace

// `ranges`: of the file's own unwind table, if a user has named the file with its symbols.
std::vector<Function> ElfFile::Impl::read_symbols(unsigned char type,
                                                  const UnwindRanges* ranges) const {
  Symbols symbols{type};
  add_symbols(image, SHT_DYNSYM, true, symbols);
  add_symbols(image, SHT_SYMTAB, false, symbols);
  Symbols separate{type};
  for (const ElfImage& extra : debug_files()) add_symbols(extra, SHT_SYMTAB, false, separate);
  if (ranges) keep_functions_of(*ranges, separate.all);
  std::ranges::move(separate.all, std::back_inserter(symbols.all));
  auto all = std::move(symbols.all);
  // The same symbol in several tables becomes one, which is exported if one of them is.
  std::sort(all.begin(), all.end(), [](const Function& a, const Function& b) {
    return std::tie(a.address, a.name, b.exported) < std::tie(b.address, b.name, a.exported);
  });
  const auto same = [](const Function& a, const Function& b) {
    return a.address == b.address && a.name == b.name;
  };
  all.erase(std::unique(all.begin(), all.end(), same), all.end());
  return all;
}

// Adds those of Go's table at whose addresses no function is known.
void ElfFile::Impl::add_go_functions(const std::vector<GoFunction>& from,
                                     std::vector<Function>& to) const {
  const auto by_address = [](const Function& a, const Function& b) {
    return a.address < b.address;
  };
  const auto known = static_cast<std::ptrdiff_t>(to.size());
  for (const GoFunction& one : from) {
    Function function{one.name, one.address, one.size, 0, false};
    const Segment* segment = segment_of(one.address);
    const bool is_known = std::binary_search(to.begin(), to.begin() + known, function, by_address);
    if (is_known || !segment || !segment->executable) continue;
    const uint64_t within = one.address - segment->address;
    function.size = std::min(one.size, segment->file_size - within);
    function.offset = segment->offset + within;
    to.push_back(std::move(function));
  }
  std::ranges::inplace_merge(to, to.begin() + known, by_address);
}

std::vector<Function> ElfFile::read_symbols(unsigned char type) const {
  if (!impl_->named) return impl_->read_symbols(type, nullptr);
  const UnwindRanges ranges(*this);
  return impl_->read_symbols(type, &ranges);
}

const std::vector<Function>& ElfFile::functions() const {
  if (impl_->functions) return *impl_->functions;
  impl_->functions = read_symbols(STT_FUNC);
  if (const auto* go = go_functions(); go && *go) impl_->add_go_functions(**go, *impl_->functions);
  return *impl_->functions;
}

const Result<std::vector<GoFunction>>* ElfFile::go_functions() const {
  if (!impl_->has_looked_for_go) impl_->go_functions = read_go_functions(*this);
  impl_->has_looked_for_go = true;
  return impl_->go_functions ? &*impl_->go_functions : nullptr;
}

const std::vector<Function>& ElfFile::indirect_functions() const {
  if (!impl_->indirect_functions) impl_->indirect_functions = read_symbols(STT_GNU_IFUNC);
  return *impl_->indirect_functions;
}

std::optional<Function> ElfFile::function_at(uint64_t address) const {
  const auto& all = functions();
  auto after = std::upper_bound(all.begin(), all.end(), address,
                                [](uint64_t a, const Function& f) { return a < f.address; });
  // Symbols without a size, and aliases, may lie between.
  for (int looked = 0; after != all.begin() && looked < 64; ++looked) {
    const Function& function = *--after;
    if (function.size && address - function.address < function.size) return function;
  }
  return std::nullopt;
}

void ElfFile::Impl::add_variables(const ElfImage& from, uint32_t table_type,
                                  std::vector<AddressRange>& to) const {
  from.each_symbol(table_type, kMostSymbols, [&](const char*, const GElf_Sym& symbol) {
    if (GELF_ST_TYPE(symbol.st_info) != STT_OBJECT || symbol.st_shndx == SHN_UNDEF) return;
    const Segment* segment = segment_of(symbol.st_value);
    if (!segment || symbol.st_size == 0) return;
    const uint64_t left = segment->file_size - (symbol.st_value - segment->address);
    to.push_back({symbol.st_value, std::min(symbol.st_size, left)});
  });
}

void ElfFile::Impl::read_variables() const {
  std::vector<AddressRange> all;
  add_variables(image, SHT_DYNSYM, all);
  add_variables(image, SHT_SYMTAB, all);
  for (const ElfImage& extra : debug_files()) add_variables(extra, SHT_SYMTAB, all);
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  variables = std::move(all);
}

const std::vector<AddressRange>& ElfFile::variables() const {
  if (!impl_->variables) impl_->read_variables();
  return *impl_->variables;
}

bool ElfFile::is_fixed() const { return impl_->image.header().e_type == ET_EXEC; }

bool ElfFile::is_program() const {
  constexpr uint64_t kMostBytes = 64 << 10;
  size_t count = 0;
  GElf_Phdr header{};
  if (is_fixed() || elf_getphdrnum(impl_->image.elf(), &count) != 0) return is_fixed();
  for (size_t i = 0; i < count && header.p_type != PT_DYNAMIC; ++i)
    if (!gelf_getphdr(impl_->image.elf(), static_cast<int>(i), &header)) return false;
  if (header.p_type != PT_DYNAMIC) return true;  // linked with nothing
  const auto bytes = read_at_most(header.p_offset, std::min(header.p_filesz, kMostBytes));
  if (!bytes) return false;
  Elf64_Dyn entry{};
  for (size_t at = 0; at + sizeof(entry) <= bytes->size(); at += sizeof(entry)) {
    std::memcpy(&entry, bytes->data() + at, sizeof(entry));
    if (entry.d_tag == DT_FLAGS_1) return (entry.d_un.d_val & DF_1_PIE) != 0;
  }
  return false;
}

// ---- debug information ----

const std::string& ElfFile::debug_root() const { return impl_->debug_root; }

Result<ElfImage> ElfFile::open_again() const {
  return ElfImage::open(Fd{::fcntl(impl_->fd.get(), F_DUPFD_CLOEXEC, 0)}, impl_->path);
}

std::optional<ElfImage> ElfFile::open_debug_info() const {
  constexpr const char* kNeeded = ".debug_info";
  if (!impl_->named && section(kNeeded)) {
    auto image = open_again();
    if (!image) return std::nullopt;
    return std::move(*image);
  }
  for (ElfImage& file : impl_->debug_files())
    if (file.section(kNeeded)) return std::move(file);
  return std::nullopt;
}

namespace {

void each_definition_in(const ElfImage& from, uint32_t table, const ElfFile::OnDefinition& take) {
  from.each_symbol(table, kMostSymbols, [&](const char* name, const GElf_Sym& symbol) {
    const size_t length = ::strnlen(name, kLongestSymbol);
    if (symbol.st_shndx != SHN_UNDEF && length > 0 && length < kLongestSymbol)
      take({.name = std::string_view(name, length),
            .address = symbol.st_value,
            .type = static_cast<unsigned char>(GELF_ST_TYPE(symbol.st_info)),
            .visibility = static_cast<unsigned char>(GELF_ST_VISIBILITY(symbol.st_other)),
            .exported = table == SHT_DYNSYM,
            .absolute = symbol.st_shndx == SHN_ABS});
  });
}

}  // namespace

void ElfFile::each_definition(const OnDefinition& take) const {
  each_definition_in(impl_->image, SHT_SYMTAB, take);
  each_definition_in(impl_->image, SHT_DYNSYM, take);
  for (const ElfImage& extra : impl_->debug_files()) each_definition_in(extra, SHT_SYMTAB, take);
}

std::optional<uint64_t> ElfFile::symbol_address(std::string_view name) const {
  if (!impl_->addresses) {
    auto& by_name = impl_->addresses.emplace();
    for (const uint32_t table : {SHT_SYMTAB, SHT_DYNSYM})
      each_definition_in(impl_->image, table,
                         [&](const Definition& one) { by_name.emplace(one.name, one.address); });
  }
  const auto found = impl_->addresses->find(std::string(name));
  if (found == impl_->addresses->end()) return std::nullopt;
  return found->second;
}

}  // namespace tracectl
