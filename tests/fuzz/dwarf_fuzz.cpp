// SPDX-License-Identifier: BSD-2-Clause
//
// Damaged debug information: the input says which bytes of a program's debug sections, and of
// those of its split units, are overwritten. All that is then reported about its functions must be possible in the calling convention.
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "daemon/base/fd.h"
#include "daemon/object/arg_spec.h"
#include "daemon/object/debug_files.h"
#include "daemon/object/dwarf_package.h"
#include "daemon/object/inlined_copies.h"
#include "daemon/object/line_variables.h"
#include "daemon/object/parameters.h"
#include "daemon/object/return_planner.h"
#include "tests/support/elf_builder.h"
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

// Files of one program, and where their debug sections are.
class Subject {
 public:
  explicit Subject(const char* name) { add("", program(name)); }

  // With split units: they are in a .dwo file, or in a package of one.
  enum class Units { in_file, in_package };
  Subject(const char* name, Units units, char version) : Subject(name) {
    const std::string file = program((std::string(name) + ".dwo").c_str());
    if (units == Units::in_file)
      add(".dwo", file);
    else
      add(".dwp", package_of(file, version));
  }

  // Four bytes each: the section, the offset (two bytes), the new value.
  Subject damaged(const uint8_t* data, size_t size) const {
    Subject copy = *this;
    for (; size >= 4; data += 4, size -= 4) {
      const auto& [suffix, section] = sections_[data[0] % sections_.size()];
      if (section.size == 0) continue;
      const size_t at = static_cast<size_t>(data[1] << 8 | data[2]) % section.size;
      copy.files_[suffix][section.offset + at] = static_cast<char>(data[3]);
    }
    return copy;
  }

  const std::string& bytes() const { return files_.at(""); }

  Fd open(const std::string& path) const {
    for (const auto& [suffix, bytes] : files_)
      if (!suffix.empty() && path.ends_with(suffix)) return file_of(bytes);
    return {};
  }

 private:
  void add(const std::string& suffix, const std::string& bytes) {
    const auto image = ElfImage::open(file_of(bytes), "file");
    must(image.has_value());
    for (const char* section :
         {".debug_info", ".debug_abbrev", ".debug_loclists", ".debug_rnglists", ".debug_loc",
          ".debug_ranges", ".debug_types", ".debug_addr"})
      if (auto found = image->section(section)) sections_.emplace_back(suffix, *found);
    for (const std::string_view section : kSplitSections)
      if (auto found = image->section(section)) sections_.emplace_back(suffix, *found);
    if (auto found = image->section(".debug_cu_index")) sections_.emplace_back(suffix, *found);
    files_[suffix] = bytes;
  }

  static std::string text(const ElfImage& image, std::string_view section) {
    const auto bytes = image.section_bytes(section);
    return bytes ? std::string(bytes->begin(), bytes->end()) : std::string();
  }

  // A package with one unit: its index has a row for it.
  static std::string package_of(const std::string& file, char version) {
    const auto image = ElfImage::open(file_of(file), "file");
    must(image.has_value());
    on_file::ElfBuilder builder;
    std::string columns, offsets, sizes;
    uint32_t count = 0;
    const std::map<std::string_view, uint32_t> numbers{
        {".debug_info.dwo", 1}, {".debug_abbrev.dwo", 3},   {".debug_line.dwo", 4},
        {".debug_loc.dwo", 5},  {".debug_loclists.dwo", 5}, {".debug_str_offsets.dwo", 6}};
    for (const std::string_view name : kSplitSections) {
      const std::string bytes = text(*image, name);
      if (bytes.empty()) continue;
      builder.add_section(std::string(name), SHT_PROGBITS, bytes);
      if (!numbers.contains(name)) continue;
      ++count;
      columns += word(numbers.at(name));
      offsets += word(0);
      sizes += word(static_cast<uint32_t>(bytes.size()));
    }
    const std::string info = text(*image, ".debug_info.dwo");
    const std::string id = version == 5 ? info.substr(12, 8) : id_of(*image);
    const std::string index = word(version == 5 ? 5 : 2) + word(count) + word(1) + word(1) + id +
                              word(1) + columns + offsets + sizes;
    builder.add_section(".debug_cu_index", SHT_PROGBITS, index);
    return builder.build();
  }

  // DWARF 4 has it as an attribute.
  static std::string id_of(const ElfImage& image) {
    Dwarf* const dwarf = ::dwarf_begin_elf(image.elf(), DWARF_C_READ, nullptr);
    Dwarf_CU* unit = nullptr;
    uint64_t id = 0;
    must(::dwarf_get_units(dwarf, nullptr, &unit, nullptr, nullptr, nullptr, nullptr) == 0);
    must(::dwarf_cu_info(unit, nullptr, nullptr, nullptr, nullptr, &id, nullptr, nullptr) == 0);
    ::dwarf_end(dwarf);
    return {reinterpret_cast<const char*>(&id), sizeof(id)};
  }

  static std::string word(uint32_t value) {
    return {reinterpret_cast<const char*>(&value), sizeof(value)};
  }

  std::map<std::string, std::string> files_;  // by how their paths end
  std::vector<std::pair<std::string, Section>> sections_;
};

const Subject& subject(uint8_t number) {
  using Units = Subject::Units;
  static const std::array<Subject, 16> kSubjects{
      Subject{"parameters"},
      Subject{"parameters_dwarf4"},
      Subject{"parameters_o0"},
      Subject{"parameters_clang"},
      Subject{"parameters_split", Units::in_file, 5},
      Subject{"parameters_split_dwarf4", Units::in_file, 4},
      Subject{"parameters_split", Units::in_package, 5},
      Subject{"parameters_split_dwarf4", Units::in_package, 4},
      Subject{"fields"},
      Subject{"variables"},
      Subject{"variables_o2"},
      Subject{"variables_clang_o2"},
      Subject{"inlined"},
      Subject{"inlined_clang"},
      Subject{"text_fields"},
      Subject{"text_fields_libcxx"}};
  return kSubjects[number % kSubjects.size()];
}

// Debug files are those of the subject as long as this lives.
class OpensFilesOf {
 public:
  explicit OpensFilesOf(const Subject& subject) {
    open_debug_files_by([&](const std::string& path) { return subject.open(path); });
  }
  ~OpensFilesOf() { open_debug_files_by(nullptr); }
  OpensFilesOf(const OpensFilesOf&) = delete;
  OpensFilesOf& operator=(const OpensFilesOf&) = delete;
};

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

void check_members(const Argument& result) {
  if (!result.members) return;
  must(result.members->size() <= 128);
  for (const Member& one : *result.members) {
    must(is_name(one.name));
    if (!is_readable(one.type)) continue;
    check(one.type);
    must(one.bit_count >= 1 && one.first_bit % 64 + one.bit_count <= 64 && one.first_bit < 128);
  }
}

const std::vector<std::string> kPaths = {"*arg0",
                                         "arg0[3]",
                                         "arg0->a",
                                         "arg1->b",
                                         "arg0->id",
                                         "arg0->delta",
                                         "arg0->uri.len",
                                         "arg0->other->text",
                                         "arg0->number",
                                         "arg0->label",
                                         "arg0->list[2].name",
                                         "arg0->grid[1][2]",
                                         "arg0->nothing",
                                         "((struct request *)arg0)->next->id",
                                         "((item *)arg1)[1].weight",
                                         "*(unsigned long *)arg0",
                                         "retval->next->next->wide",
                                         "retval.n[1]",
                                         "retval",
                                         "arg.name",
                                         "*arg.name",
                                         "arg.view",
                                         "arg.request->name",
                                         "arg.request->view",
                                         "*arg.request->other"};

const std::vector<std::string> kVariablePaths = {"var.sum",
                                                 "var.i",
                                                 "var.n",
                                                 "var.small.x",
                                                 "var.shape->at.y",
                                                 "var.text[2]",
                                                 "var.wide",
                                                 "*var.all",
                                                 "var.constant",
                                                 "var.tiny",
                                                 "var.calls",
                                                 "var.total",
                                                 "var.octet",
                                                 "var.copy",
                                                 "var.nothing.x",
                                                 "var.product",
                                                 "((struct shape *)var.first)->next->name"};

void check_variables(const ElfFile& file, const Function& function, LineVariables& variables) {
  const auto code = file.read_at_most(function.offset, function.size);
  if (!code) return;
  for (uint64_t at = 0; at < function.size; at += 16) {
    const auto operands = variables.at(
        {function, function.address + at, *code, static_cast<uint32_t>(30 + at), "variables.c"});
    if (!operands) continue;
    for (const Argument& operand : *operands) {
      must(operand.place == Argument::Place::symbol && operand.asked_fields);
      const unsigned size = operand.size_bytes;
      must(size == 1 || size == 2 || size == 4 || size == 8);
      must(is_general(operand.base) || operand.base == kInstructionPointer ||
           operand.base == Register::none);
      for (const ReachedField& field : *operand.asked_fields) {
        must(is_name(field.why_not) && field.column <= field.path.size());
        if (!field.why_not.empty()) continue;
        must(field.offsets.size() <= 128);
        must(field.first_bit + field.bit_count <= field.type.size_bytes * 8);
      }
    }
  }
}

void check_given(const Arguments& parameters) {
  must(parameters.size() <= kMostArguments);
  for (const Argument& one : parameters) {
    must(is_name(one.name) && is_name(one.text));
    const unsigned size = one.size_bytes;
    must(size == 1 || size == 2 || size == 4 || size == 8);
    must(one.place != Argument::Place::symbol);
    if (one.place == Argument::Place::in_register) must(is_general(one.base) && one.offset == 0);
  }
}

void check_copies(const ElfFile& file, LineVariables& variables) {
  Pattern all;
  all.kind = ProbeKind::inlined;
  all.function = all.host = "*";
  const auto found = find_inlined(file, all);
  if (!found) return;
  must(found->copies.size() <= kMostCopies);
  for (const InlinedCopy& copy : found->copies) {
    must(is_name(copy.function) && !copy.function.empty() && is_name(copy.file));
    const auto host = file.function_at(copy.address);
    const auto code =
        host ? file.read_at_most(host->offset, host->size) : Result<std::vector<uint8_t>>(Error{});
    if (!code) continue;
    const FunctionCode around{{host->address, *code}, Extent::whole, {}};
    (void)HostFlow(around, reader_of(file))
        .why_not_entered_there(copy.code, copy.address, copy.is_said);
    LineCode place{*host, copy.address, *code, copy.begins, copy.file};
    place.copy = &copy;
    check_given(*variables.parameters_of(place));
    (void)variables.at(place);
  }
}

void check_text(const ReachedField& field) {
  if (!field.text || !field.text->when_short) return;
  for (const BitsOfByte& bits : {field.text->when_short->is_long, field.text->when_short->length})
    must(bits.bit_count > 0 && bits.first_bit + bits.bit_count <= 8);
}

void check_fields(const Argument& owner) {
  if (!owner.asked_fields) return;
  for (const ReachedField& field : *owner.asked_fields) {
    must(is_name(field.why_not) && field.column < field.path.size());
    if (!field.why_not.empty()) continue;
    check(field.type);
    check_text(field);
    must((!field.offsets.empty() || field.text) && field.offsets.size() <= 128);
    must(field.first_bit + field.bit_count <= field.type.size_bytes * 8);
  }
}

void check_argument(const Argument& argument) {
  check(argument);
  check_fields(argument);
}

void check_part_of_text(const Argument& part) {
  must(part.place == Argument::Place::symbol && is_general(part.base) && part.asked_fields);
  check_fields(part);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const Subject damaged = subject(data[0]).damaged(data + 1, size - 1);
  const OpensFilesOf files(damaged);
  const auto file =
      ElfFile::open(file_of(damaged.bytes()).get(), "/nonexistent/file", "/nonexistent");
  if (!file) return 0;
  FunctionParameters parameters(*file, {.paths = kPaths});
  FunctionParameters lists(*file, {.paths = {}, .levels = kMostFieldLevels});
  LineVariables variables(*file, {.paths = kVariablePaths});
  LineVariables all_variables(*file, {.paths = {}, .levels = 2});
  check_copies(*file, variables);
  bool any = false;
  for (const Function& function : file->functions()) {
    if (function.size > 0 && function.size < 1024) {
      check_variables(*file, function, variables);
      check_variables(*file, function, all_variables);
    }
    if (const auto listed = lists.of(function))
      for (const Argument& argument : *listed) check_fields(argument);
    const auto known = parameters.of(function);
    if (!known) continue;
    any = true;
    const size_t count = count_of_probe(*known);
    must(count <= kMostArguments && known->size() <= 3 * kMostArguments);
    for (size_t i = 0; i < known->size(); ++i)
      if (i < count)
        check_argument((*known)[i]);
      else
        check_part_of_text((*known)[i]);
    const Argument result = parameters.result_of(function);
    check_members(result);
    check_fields(result);
  }
  must(any || size > 1);  // those of an undamaged program are known
  return 0;
}
