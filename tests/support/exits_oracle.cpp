// SPDX-License-Identifier: BSD-2-Clause
#include "tests/support/exits_oracle.h"

#include <fcntl.h>

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>
#include <stdexcept>

#include "daemon/base/fd.h"
#include "daemon/object/code/exits.h"
#include "daemon/object/elf_file.h"

namespace tracectl {
namespace {

// A line of `objdump -d --no-show-raw-insn`: "  401000:\tjmp    401020 <main+0x20>".
void add_line(const char* line, ListedLines& lines) {
  char* end = nullptr;
  uint64_t address = std::strtoull(line, &end, 16);
  if (end == line || *end != ':' || end[1] != '\t') return;
  std::string text{end + 2};
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back()))) text.pop_back();
  lines.emplace(address, std::move(text));
}

ListedLines disassemble(const std::string& path, const ExitText& text) {
  ListedLines lines;
  std::string command = text.objdump + " -d -w --no-show-raw-insn '" + path + "'";
  std::unique_ptr<FILE, int (*)(FILE*)> listing{popen(command.c_str(), "r"), pclose};
  char line[1024];
  while (listing && std::fgets(line, sizeof line, listing.get()) != nullptr) add_line(line, lines);
  return lines;
}

struct StackFrame {
  uint64_t end;
  std::vector<uint8_t> bytes;
};

struct Program {
  ElfFile elf;
  ListedLines lines;
  std::set<uint64_t> starts;                          // of functions with a symbol
  std::map<uint64_t, StackFrame> frames;              // parts of functions, by the unwind tables
  std::multimap<std::string, const Function*> parts;  // f.cold and f.cold.1, by f
};

std::set<std::string> exits_by_objdump(const Program& program, const Ranges& ranges,
                                       const ExitText& text) {
  std::set<std::string> exits;
  for (const auto& [start, size] : ranges) {
    const auto first = program.lines.lower_bound(start);
    for (auto line = first; line != program.lines.end() && line->first < start + size; ++line)
      text.add_exit(line, first, ranges, exits);
  }
  return exits;
}

// readelf prints "... FDE cie=0000002c pc=000000000041f020..0000000000420f10" for each.
std::map<uint64_t, StackFrame> frames_of(const std::string& path, const ElfFile& elf) {
  std::map<uint64_t, StackFrame> frames;
  const auto plt = elf.section(".plt");
  const std::pair<uint64_t, uint64_t> stubs =
      plt ? std::pair{plt->address, plt->address + plt->size} : std::pair<uint64_t, uint64_t>{};
  std::string command = "readelf --debug-dump=frames '" + path + "' 2>/dev/null";
  std::unique_ptr<FILE, int (*)(FILE*)> listing{popen(command.c_str(), "r"), pclose};
  char line[1024];
  while (listing && std::fgets(line, sizeof line, listing.get()) != nullptr) {
    const char* at = std::strstr(line, " pc=");
    if (at == nullptr) continue;
    char* middle = nullptr;
    uint64_t start = std::strtoull(at + 4, &middle, 16);
    uint64_t end = std::strtoull(middle + 2, nullptr, 16);
    if (start >= stubs.first && start < stubs.second) continue;
    auto offset = elf.offset_of(start);
    auto bytes = offset ? elf.read_at_most(*offset, end - start) : Error{};
    if (bytes) frames.emplace(start, StackFrame{end, std::move(*bytes)});
  }
  return frames;
}

Program open_program(const std::string& path, const ExitText& text) {
  Fd fd{open(path.c_str(), O_RDONLY | O_CLOEXEC)};
  auto elf = ElfFile::open(fd.get(), path);
  if (!elf) throw std::runtime_error(elf.error().message);
  Program program{std::move(*elf), disassemble(path, text), {}, {}, {}};
  program.frames = frames_of(path, program.elf);
  for (const Function& function : program.elf.functions())
    if (function.name.find(".cold") == std::string::npos) program.starts.insert(function.address);
  for (const Function& function : program.elf.functions())
    if (size_t at = function.name.find(".cold"); at != std::string::npos)
      program.parts.emplace(function.name.substr(0, at), &function);
  return program;
}

ReadFile reader(const ElfFile& elf) {
  return [&elf](uint64_t address, std::span<uint8_t> into) {
    auto offset = elf.offset_of(address);
    if (!offset) return size_t{0};
    auto bytes = elf.read_at_most(*offset, into.size());
    if (!bytes) return size_t{0};
    std::ranges::copy(*bytes, into.begin());
    return bytes->size();
  };
}

// A message without its addresses.
std::string reason(const std::string& message) {
  const char* shown = std::strchr(std::strstr(message.c_str(), "at 0x") + 3, ' ');
  std::string text = shown + 1;
  return text.substr(0, text.find(';'));
}

struct Parts {
  std::vector<std::vector<uint8_t>> bytes;
  std::vector<CodeRange> others;
  Ranges ranges;
  std::map<uint64_t, uint64_t> asked;  // requested parts: start, size
};

void read_range(const Program& program, const Function& function, Parts& code) {
  auto bytes = program.elf.read_at_most(function.offset, function.size);
  if (!bytes) throw std::runtime_error(bytes.error().message);
  code.ranges.emplace_back(function.address, bytes->size());
  code.bytes.push_back(std::move(*bytes));
}

Parts read_code(const Program& program, const Function& function) {
  Parts code;
  read_range(program, function, code);
  auto [first, last] = program.parts.equal_range(function.name);
  for (auto part = first; part != last; ++part)
    if (is_in(code.ranges, part->second->address) == false)
      read_range(program, *part->second, code);
  for (size_t i = 1; i < code.bytes.size(); ++i)
    code.others.push_back({code.ranges[i].first, code.bytes[i]});
  return code;
}

std::optional<CodeRange> part_at(const Program& program, uint64_t address, Parts& code) {
  auto above = program.frames.upper_bound(address);
  if (above == program.frames.begin()) return std::nullopt;
  const auto& [start, frame] = *std::prev(above);
  if (address >= frame.end) return std::nullopt;
  code.asked[start] = frame.bytes.size();
  return CodeRange{start, frame.bytes};
}

// Requested parts that are not the target of an exit count as parts of the function.
void add_parts_taken(const std::vector<Exit>& exits, Parts& code) {
  for (const auto& range : code.asked) {
    const auto leads_here = [&](const Exit& exit) { return is_in({range}, exit.target); };
    if (std::ranges::none_of(exits, leads_here)) code.ranges.push_back(range);
  }
}

void compare(const Program& program, const Function& function, const ExitText& text,
             ExitsSurvey& survey) {
  Parts code = read_code(program, function);
  const Surroundings surroundings{
      .read = reader(program.elf),
      .part_at = [&](uint64_t address) { return part_at(program, address, code); },
      .is_function = [&](uint64_t address) { return program.starts.contains(address); }};
  auto start = std::chrono::steady_clock::now();
  auto exits = find_exits(
      {.body = {function.address, code.bytes[0]}, .extent = Extent::whole, .others = code.others},
      surroundings);
  survey.took += std::chrono::steady_clock::now() - start;
  ++survey.functions;
  if (!exits) {
    ++survey.refusals;
    ++survey.refused[reason(exits.error().message)];
    return;
  }
  std::set<std::string> found;
  for (const Exit& exit : *exits) {
    ++survey.kinds[name_of(exit.kind)];
    found.insert(word(exit.address, name_of(exit.kind), exit.target));
  }
  add_parts_taken(*exits, code);
  auto expected = exits_by_objdump(program, code.ranges, text);
  if (found == expected) return;
  std::string difference = function.name + ":";
  for (const auto& one : found)
    if (!expected.contains(one)) difference += " +" + one;
  for (const auto& one : expected)
    if (!found.contains(one)) difference += " -" + one;
  survey.differences.push_back(difference);
}

}  // namespace

bool is_in(const Ranges& ranges, uint64_t address) {
  return std::ranges::any_of(
      ranges, [&](const auto& range) { return address - range.first < range.second; });
}

std::string word(uint64_t address, const char* kind, uint64_t target) {
  char text[80];
  std::snprintf(text, sizeof text, "%llx %s %llx", static_cast<unsigned long long>(address), kind,
                static_cast<unsigned long long>(target));
  return text;
}

ExitsSurvey survey_exits(const std::string& path, const ExitText& text) {
  Program program = open_program(path, text);
  ExitsSurvey survey;
  std::set<uint64_t> done;
  for (const Function& function : program.elf.functions())
    if (function.size != 0 && function.name.find(".cold") == std::string::npos &&
        program.lines.contains(function.address) && done.insert(function.address).second)
      compare(program, function, text, survey);
  return survey;
}

void print(const std::string& path, const ExitsSurvey& survey) {
  std::printf("%s: %zu functions, %.1f ms", path.c_str(), survey.functions,
              static_cast<double>(survey.took.count()) / 1e6);
  for (const auto& [kind, count] : survey.kinds) std::printf(", %zu %s", count, kind.c_str());
  std::printf("\n");
  for (const auto& [why, count] : survey.refused)
    std::printf("  refused %zu: %s\n", count, why.c_str());
}

}  // namespace tracectl
