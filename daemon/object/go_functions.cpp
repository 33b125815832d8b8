// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/object/go_functions.h"

#include <algorithm>
#include <cstring>

#include "daemon/object/pointers.h"

// The table begins with a header: a magic number of 4 bytes, 2 zeros, the unit of instructions' lengths, the size of a
// pointer, and eight words of that size. Then come the names, each with a 0 after it; some tables that are not needed
// here; and the functions: an array with the distance from the start of the code and the place of the function's entry,
// sorted, with the end of the code after the last one; and these entries.
namespace tracectl {
namespace {

constexpr uint32_t kGo118 = 0xfffffff0;  // and 1.19
constexpr uint32_t kGo120 = 0xfffffff1;  // and later ones

constexpr size_t kWord = 8;
constexpr size_t kFirstWord = 8;  // bytes before it
enum HeaderWord { kFunctions, kFiles, kTextStart, kNames, kUnits, kFileNames, kValues, kEntries };

constexpr uint64_t kMostFunctions = 4'000'000;
constexpr uint64_t kMostTableBytes = 64 << 20;
constexpr size_t kLongestName = 4096;
constexpr size_t kMostNameBytes = 64 << 20;  // a damaged table can have one name many times

// In a function's entry.
constexpr size_t kNameAt = 4;
constexpr size_t kFlagsAtGo118 = 37, kFlagsAtGo120 = 41;
constexpr uint8_t kAssembly = 1 << 2;

template <class Number> std::optional<Number> read_at(std::span<const uint8_t> bytes, uint64_t at) {
  Number number;
  if (at > bytes.size() || bytes.size() - at < sizeof number) return std::nullopt;
  std::memcpy(&number, bytes.data() + at, sizeof number);
  return number;
}

std::span<const uint8_t> from(std::span<const uint8_t> bytes, uint64_t at) {
  return bytes.subspan(std::min<uint64_t>(at, bytes.size()));
}

Error damaged() {
  return Error{Code::unsupported, "the program's table of Go functions is damaged"};
}

std::string hex(uint32_t number) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string text = "0x";
  for (int shift = 28; shift >= 0; shift -= 4) text += kDigits[number >> shift & 15];
  return text;
}

class Table {
 public:
  static Result<Table> of(std::span<const uint8_t> bytes) {
    const auto magic = read_at<uint32_t>(bytes, 0);
    const auto pointer_bytes = read_at<uint8_t>(bytes, 7);
    if (!magic || !pointer_bytes) return damaged();
    if (*magic != kGo118 && *magic != kGo120)
      return Error{Code::unsupported, "its table of Go functions is of the form " + hex(*magic) +
                                          "; those of Go 1.18 and later, up to now, are " +
                                          hex(kGo118) + " and " + hex(kGo120)};
    if (*pointer_bytes != kWord) return damaged();
    return Table{bytes, *magic == kGo118 ? kFlagsAtGo118 : kFlagsAtGo120};
  }

  std::optional<uint64_t> word(HeaderWord number) const {
    return read_at<uint64_t>(bytes_, kFirstWord + number * kWord);
  }

  Result<std::vector<GoFunction>> functions(uint64_t text_start) const {
    const auto count = word(kFunctions), names = word(kNames), entries = word(kEntries);
    if (!count || !names || !entries || *count > kMostFunctions) return damaged();
    const auto index = from(bytes_, *entries);
    std::vector<GoFunction> all;
    size_t name_bytes = 0;
    for (uint64_t i = 0; i < *count; ++i) {
      auto function = function_at(index, i, from(bytes_, *names));
      if (!function || (name_bytes += function->name.size()) > kMostNameBytes) return damaged();
      function->address += text_start;
      if (function->size && !function->name.empty()) all.push_back(std::move(*function));
    }
    return all;
  }

 private:
  Table(std::span<const uint8_t> bytes, size_t flags_at) : bytes_(bytes), flags_at_(flags_at) {}

  // Its address is the distance from the start of the code.
  std::optional<GoFunction> function_at(std::span<const uint8_t> index, uint64_t number,
                                        std::span<const uint8_t> names) const {
    const uint64_t at = number * 8;
    const auto start = read_at<uint32_t>(index, at), entry = read_at<uint32_t>(index, at + 4),
               end = read_at<uint32_t>(index, at + 8);
    if (!start || !entry || !end || *end < *start) return std::nullopt;
    const auto name_at = read_at<uint32_t>(index, uint64_t{*entry} + kNameAt);
    const auto flags = read_at<uint8_t>(index, *entry + flags_at_);
    if (!name_at || !flags || *name_at >= names.size()) return std::nullopt;
    const auto* name = reinterpret_cast<const char*>(names.data() + *name_at);
    const size_t most = std::min(names.size() - *name_at, kLongestName);
    const size_t length = ::strnlen(name, most);
    if (length == most) return std::nullopt;
    return GoFunction{std::string(name, length), *start, *end - *start, (*flags & kAssembly) != 0};
  }

  std::span<const uint8_t> bytes_;
  size_t flags_at_;
};

// Position-independent programs have it from the loader.
std::optional<uint64_t> relocated_text_start(const ElfFile& file, const Section& section) {
  const uint64_t place = section.address + kFirstWord + kTextStart * kWord;
  for (const Pointer& pointer : read_pointers(file))
    if (pointer.place == place && pointer.target) return pointer.target;
  return std::nullopt;
}

std::optional<uint64_t> text_start_of(const ElfFile& file, const Section& section,
                                      const Table& table) {
  if (const auto symbol = file.symbol_address("runtime.text")) return symbol;
  const auto start = table.word(kTextStart);
  return start && *start ? start : relocated_text_start(file, section);
}

}  // namespace

Result<std::vector<GoFunction>> parse_go_functions(std::span<const uint8_t> table,
                                                   uint64_t text_start) {
  const auto read = Table::of(table);
  if (!read) return read.error();
  return read->functions(text_start);
}

std::optional<Result<std::vector<GoFunction>>> read_go_functions(const ElfFile& file) {
  auto section = file.section(".gopclntab");
  if (!section) section = file.section(".data.rel.ro.gopclntab");
  if (!section) return std::nullopt;
  const auto bytes = file.read_at_most(section->offset, std::min(section->size, kMostTableBytes));
  if (!bytes) return Result<std::vector<GoFunction>>{bytes.error()};
  const auto table = Table::of(*bytes);
  if (!table) return Result<std::vector<GoFunction>>{table.error()};
  const auto start = text_start_of(file, *section, *table);
  if (!start) return Result<std::vector<GoFunction>>{damaged()};
  return table->functions(*start);
}

}  // namespace tracectl
