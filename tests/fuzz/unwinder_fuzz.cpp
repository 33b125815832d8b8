// SPDX-License-Identifier: BSD-2-Clause
//
// Damaged unwind and line tables, and an arbitrary stack. The first byte is the number of bytes of damage
// that follow, four for each as in dwarf_fuzz.cpp; the rest is registers, then stack.
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "daemon/object/object_symbols.h"
#include "daemon/object/unwinder.h"
#include "tests/support/elf_builder.h"
#include "tests/support/program.h"

using namespace tracectl;

namespace {

constexpr unsigned kMost = 64;
constexpr uint64_t kBias = 0x550000000000;

void must(bool promise) {
  if (!promise) std::abort();
}

struct Subject {
  std::string bytes;
  std::vector<Section> sections;
  std::vector<Function> functions;

  Subject() {
    std::ifstream file(on_kernel::target_path("stacks_no_fp"), std::ios::binary);
    bytes.assign(std::istreambuf_iterator<char>(file), {});
    const auto elf = ElfFile::open(on_file::as_file(bytes).get(), "stacks_no_fp", "/nonexistent");
    must(elf.has_value());
    functions = elf->functions();
    must(!functions.empty());
    for (const char* name : {".eh_frame", ".eh_frame_hdr", ".debug_info", ".debug_abbrev",
                             ".debug_line", ".debug_rnglists", ".debug_str"})
      if (auto found = elf->section(name)) sections.push_back(*found);
  }
};

std::string damaged(const Subject& subject, const uint8_t*& data, size_t& size) {
  std::string bytes = subject.bytes;
  size_t left = size ? *data : 0;
  if (size) ++data, --size;
  for (; left >= 4 && size >= 4; data += 4, size -= 4, left -= 4) {
    const Section& section = subject.sections[data[0] % subject.sections.size()];
    const size_t at = static_cast<size_t>(data[1] << 8 | data[2]) % section.size;
    bytes[section.offset + at] = static_cast<char>(data[3]);
  }
  return bytes;
}

// The instruction pointer is in one of the file's functions: elsewhere there is nothing to unwind.
RawStack stack_of(const Subject& subject, const uint8_t* data, size_t size) {
  RawStack stack;
  const size_t registers = std::min(size, sizeof(stack.registers));
  std::memcpy(stack.registers.data(), data, registers);
  const Function& function = subject.functions[stack.registers[0] % subject.functions.size()];
  stack.registers.back() =
      kBias + function.address + (function.size ? stack.registers[1] % function.size : 0);
  stack.registers[4] = stack.start = 0x7ffe00000000;
  const auto* rest = reinterpret_cast<const std::byte*>(data + registers);
  stack.bytes.assign(rest, rest + (size - registers));
  return stack;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const Subject subject;
  const std::string bytes = damaged(subject, data, size);
  auto symbols =
      ObjectSymbols::open(on_file::as_file(bytes).get(), "/nonexistent/file", "/nonexistent");
  if (!symbols) return 0;
  Unwinder unwinder({{(*symbols)->image(), kBias}});
  const auto found = unwinder.unwind(stack_of(subject, data, size), kMost);
  must(!found.addresses.empty() && found.addresses.size() <= kMost);
  for (const uint64_t address : found.addresses) {
    const auto& frames = (*symbols)->frames_at(address - kBias, ObjectSymbols::Of::return_address);
    must(!frames.empty() && frames.size() <= 33 && !frames.back().inlined);
  }
  return 0;
}
