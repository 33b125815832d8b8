// SPDX-License-Identifier: BSD-2-Clause
//
// Damaged tables of lines. Input: a number of a program, then four bytes each: the offset in .debug_line (three bytes), and
// the new value. What is then read of its tables is within the bounds, and every place that is found is in its code.
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>

#include "daemon/object/debug_info.h"
#include "daemon/object/line_finder.h"
#include "daemon/object/line_program.h"
#include "tests/support/elf_builder.h"
#include "tests/support/program.h"

using namespace tracectl;

namespace {

constexpr uint64_t kMostRowsRead = 1'000'000;

void must_line(bool promise) {
  if (!promise) std::abort();
}

std::string program_of(uint8_t number) {
  constexpr const char* kPrograms[] = {"lines", "lines_o2", "lines_dwarf4", "lines_clang"};
  std::ifstream file(on_kernel::target_path(kPrograms[number % std::size(kPrograms)]),
                     std::ios::binary);
  must_line(file.good());
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string damaged(const uint8_t* data, size_t size) {
  std::string bytes = program_of(data[0]);
  const auto image = ElfImage::open(on_file::as_file(bytes), "file");
  must_line(image.has_value());
  const auto section = image->section(".debug_line");
  must_line(section && section->size > 0);
  for (++data, --size; size >= 4; data += 4, size -= 4) {
    const size_t at = static_cast<size_t>(data[0] << 16 | data[1] << 8 | data[2]) % section->size;
    bytes[section->offset + at] = static_cast<char>(data[3]);
  }
  return bytes;
}

void check_places(const ElfFile& file, const std::string& text) {
  const auto pattern = parse_pattern(text);
  must_line(pattern.has_value());
  const auto found = find_lines(file, *pattern);
  if (!found) return;
  must_line(found->places.size() <= kMostLinePlaces);
  must_line(found->places.empty() != found->why_none.empty());
  for (const LinePlace& place : found->places)
    must_line(place.file < found->files.size() && place.line != 0 &&
              (pattern->line == 0 || place.line == pattern->line));
}

// The input itself as a table.
void check_table(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto table = LineTable::read({bytes, bytes, bytes}, 0, "/d");
  if (!table) return;
  must_line(table->files().size() <= LineTable::kMostFiles);
  uint64_t rows = 0;
  table->each_row([&](const LineRow& row) {
    must_line(row.line <= INT32_MAX && row.column <= INT32_MAX);
    return ++rows < kMostRowsRead;
  });
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  check_table(data, size);
  if (size == 0) return 0;
  const auto file = ElfFile::open(on_file::as_file(damaged(data, size)).get(), "/nonexistent/file",
                                  "/nonexistent");
  must_line(file.has_value());
  check_places(*file, "uprobe:@*:*");
  check_places(*file, "uprobe:@lines.h:19");
  check_places(*file, "uprobe:@lines.c:1:1");
  return 0;
}
