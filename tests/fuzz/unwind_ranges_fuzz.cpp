// SPDX-License-Identifier: BSD-2-Clause
//
// Input: the bytes of a section .eh_frame. The resulting ranges are within the file's code, sorted, and do
// not overlap.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "daemon/object/unwind_ranges.h"
#include "tests/support/elf_builder.h"

using namespace tracectl;

namespace {

// As in the seed's program.
constexpr uint64_t kTable = 0x2150;
constexpr uint64_t kStubs = 0x1020, kStubBytes = 0xd0;
constexpr uint64_t kCode = 0x1100, kCodeBytes = 0x600;

void must(bool promise) {
  if (!promise) std::abort();
}

// Each entry has 4 bytes of length, 4 bytes of distance to its CIE, and two numbers of at least 2 bytes.
void check_entries(const uint8_t* data, size_t size) {
  const auto ranges = parse_unwind_ranges({data, size}, kTable);
  must(ranges.size() * 12 <= size);
  for (const AddressRange& range : ranges)
    must(range.size > 0 && range.address + range.size > range.address);
}

void check_kept(const UnwindRanges& ranges) {
  uint64_t free_from = kCode;
  for (const AddressRange& range : ranges.all()) {
    must(range.address >= free_from && range.size > 0);
    must(ranges.range_at(range.address) == range);
    must(ranges.range_at(range.address + range.size - 1) == range);
    if (range.address > free_from) must(!ranges.range_at(range.address - 1));
    free_from = range.address + range.size;
    must(free_from > range.address && free_from <= kCode + kCodeBytes);
  }
  must(!ranges.range_at(free_from));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  check_entries(data, size);
  on_file::ElfBuilder builder;
  builder.add_code_section(".plt", kStubs, kStubBytes);
  builder.add_code_section(".text", kCode, kCodeBytes);
  builder.add_section(".eh_frame", SHT_PROGBITS, std::string(data, data + size), kTable);
  const auto file =
      ElfFile::open(on_file::as_file(builder.build()).get(), "/nonexistent/file", "/nonexistent");
  must(file.has_value());
  check_kept(UnwindRanges(*file));
  return 0;
}
