// SPDX-License-Identifier: BSD-2-Clause
//
// Damaged debug information: the input says which bytes of a program's debug sections are overwritten. All
// that is then reported about its functions must be possible in the calling convention.
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "daemon/base/fd.h"
#include "daemon/object/arg_spec.h"
#include "daemon/object/parameters.h"
#include "tests/support/program.h"

using namespace tracectl;

namespace {

void must(bool promise) {
  if (!promise) std::abort();
}

std::string program(const char* name) {
  std::ifstream file(on_kernel::target_path(name), std::ios::binary);
  must(file.good());
  return {std::istreambuf_iterator<char>(file), {}};
}

Fd file_of(const std::string& bytes) {
  Fd fd{::memfd_create("fuzz", MFD_CLOEXEC)};
  must(fd && ::write(fd.get(), bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size()));
  return fd;
}

// A program, and where its debug sections are.
struct Subject {
  std::string bytes;
  std::vector<Section> sections;

  explicit Subject(const char* name) : bytes(program(name)) {
    const auto file = ElfFile::open(file_of(bytes).get(), name, "/nonexistent");
    must(file.has_value());
    for (const char* section : {".debug_info", ".debug_abbrev", ".debug_loclists",
                                ".debug_rnglists", ".debug_loc", ".debug_ranges", ".debug_types"})
      if (auto found = file->section(section)) sections.push_back(*found);
  }
};

const Subject& subject(uint8_t number) {
  static const std::array<Subject, 4> kSubjects{Subject{"parameters"}, Subject{"parameters_dwarf4"},
                                                Subject{"parameters_o0"},
                                                Subject{"parameters_clang"}};
  return kSubjects[number % kSubjects.size()];
}

// Four bytes each: the section, the offset (two bytes), the new value.
std::string damaged(const Subject& subject, const uint8_t* data, size_t size) {
  std::string bytes = subject.bytes;
  for (; size >= 4; data += 4, size -= 4) {
    const Section& section = subject.sections[data[0] % subject.sections.size()];
    if (section.size == 0) continue;
    const size_t at = static_cast<size_t>(data[1] << 8 | data[2]) % section.size;
    bytes[section.offset + at] = static_cast<char>(data[3]);
  }
  return bytes;
}

bool is_name(const std::string& text) {
  for (const char c : text)
    if (c < ' ' || c > '~') return false;
  return true;
}

void check(const Argument& argument) {
  must(is_name(argument.name) && is_name(argument.declared_type) && is_name(argument.text));
  must(argument.declared_type.size() <= 64);
  const unsigned size = argument.size_bytes;
  must(size == 1 || size == 2 || size == 4 || size == 8);
  must(!argument.enumerators || argument.enumerators->size() <= 256);
  if (argument.place == Argument::Place::memory)
    must(argument.base == Register::rsp && argument.offset >= 8 && argument.offset % 8 == 0);
  else
    must(argument.place == Argument::Place::in_register ||
         argument.place == Argument::Place::unreadable);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::string bytes = damaged(subject(data[0]), data + 1, size - 1);
  const auto file = ElfFile::open(file_of(bytes).get(), "/nonexistent/file", "/nonexistent");
  if (!file) return 0;
  FunctionParameters parameters(*file);
  for (const Function& function : file->functions()) {
    const auto known = parameters.of(function);
    if (!known) continue;
    must(known->size() <= kMostArguments);
    for (const Argument& argument : *known) check(argument);
  }
  return 0;
}
