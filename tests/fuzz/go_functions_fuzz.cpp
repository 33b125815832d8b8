// SPDX-License-Identifier: BSD-2-Clause
//
// Input: the bytes of a section .gopclntab. The resulting functions are sorted and do not overlap.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "daemon/object/go_functions.h"
#include "tests/support/elf_builder.h"

using namespace tracectl;

namespace {

constexpr uint64_t kTextStart = on_file::ElfBuilder::kCodeAddress;  // as in the seeds
constexpr uint64_t kTextBytes = on_file::ElfBuilder::kCodeBytes;
constexpr uint64_t kTableAt = 0x500000;

void must_go(bool promise) {
  if (!promise) std::abort();
}

void check_parsed(const uint8_t* data, size_t size) {
  const auto functions = parse_go_functions({data, size}, kTextStart);
  if (!functions) {
    must_go(!functions.error().message.empty());
    return;
  }
  must_go(functions->size() * 8 <= size);
  uint64_t free_from = kTextStart;
  for (const GoFunction& one : *functions) {
    must_go(one.address >= free_from && one.size > 0 && !one.name.empty());
    free_from = one.address + one.size;
  }
}

// Functions that the file knows are in its code.
void check_in_file(const uint8_t* data, size_t size) {
  on_file::ElfBuilder builder;
  builder.add_section(".gopclntab", SHT_PROGBITS, std::string(data, data + size), kTableAt);
  const auto file =
      ElfFile::open(on_file::as_file(builder.build()).get(), "/nonexistent/file", "/nonexistent");
  must_go(file.has_value());
  for (const Function& one : file->functions())
    must_go(one.address >= kTextStart && one.address + one.size <= kTextStart + kTextBytes &&
            file->address_of(one.offset) == one.address);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  check_parsed(data, size);
  check_in_file(data, size);
  return 0;
}
