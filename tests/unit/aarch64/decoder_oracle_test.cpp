// SPDX-License-Identifier: BSD-2-Clause
#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "daemon/object/aarch64/decoder.h"
#include "daemon/object/aarch64/encoding.h"
#include "daemon/object/code/step.h"

// Every instruction of some libraries, compared with the text of objdump. Under an emulator SYSROOT is where the
// libraries are.
namespace tracectl {
namespace {

struct Line {
  uint64_t address = 0;
  uint32_t word = 0;
  std::string mnemonic;
  std::vector<std::string> operands;
  std::string text;
};

std::string trimmed(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t\n");
  if (first == text.npos) return {};
  return std::string{text.substr(first, text.find_last_not_of(" \t\n") - first + 1)};
}

// "x0, [sp, #16]" is two operands.
std::vector<std::string> operands_of(std::string_view text) {
  std::vector<std::string> operands;
  std::string operand;
  int depth = 0;
  for (const char c : text) {
    if (c == '[' || c == '{') ++depth;
    if (c == ']' || c == '}') --depth;
    if (c == ',' && depth == 0) {
      operands.push_back(trimmed(operand));
      operand.clear();
    } else {
      operand += c;
    }
  }
  if (!trimmed(operand).empty()) operands.push_back(trimmed(operand));
  return operands;
}

// A line of `objdump -d`: "   18754:\ta9bf7bfd \tstp\tx29, x30, [sp, #-16]!\t// a comment".
std::optional<Line> line_of(const std::string& text) {
  Line line;
  line.text = trimmed(text);
  char* end = nullptr;
  line.address = std::strtoull(text.c_str(), &end, 16);
  if (*end != ':' || end[1] != '\t') return std::nullopt;
  line.word = static_cast<uint32_t>(std::strtoul(end + 2, &end, 16));
  std::string_view rest{end};
  rest = rest.substr(0, rest.find("//"));
  rest = rest.substr(0, rest.find(" <"));
  const size_t start = rest.find_first_not_of(" \t");
  if (start == rest.npos) return std::nullopt;
  rest.remove_prefix(start);
  const size_t tab = rest.find('\t');
  line.mnemonic = trimmed(rest.substr(0, tab));
  if (tab != rest.npos) line.operands = operands_of(rest.substr(tab));
  return line;
}

bool starts_with_any(const std::string& text, std::initializer_list<const char*> starts) {
  for (const char* start : starts)
    if (text.starts_with(start)) return true;
  return false;
}

Flow flow_by_text(const Line& line) {
  const std::string& name = line.mnemonic;
  if (name == "bl" || name.starts_with("blr")) return Flow::call;
  if (name == "b") return Flow::jump;
  if (name.starts_with("b.") || name.starts_with("bc.")) return Flow::conditional;
  if (starts_with_any(name, {"cbz", "cbnz", "tbz", "tbnz"})) return Flow::odd_branch;
  if (name == "br" || name.starts_with("bra")) return Flow::indirect;
  if (name == "ret" && !line.operands.empty()) return Flow::indirect;
  if (name.starts_with("ret")) return Flow::ret;
  if (name == "eret" || name == "drps") return Flow::far_away;
  if (starts_with_any(name, {"brk", "hlt", "udf", "hvc", "smc", "dcps"})) return Flow::nothing;
  return Flow::next;
}

bool is_branch(const Line& line) {
  const Flow flow = flow_by_text(line);
  return flow != Flow::next && flow != Flow::nothing;
}

bool only_reads(const std::string& name) {
  return name == "msr" || starts_with_any(name, {"cmp", "cmn", "tst", "ccm", "prf", "dc", "ic",
                                                 "at", "tlbi", "fcmp"});
}

bool is_register(const std::string& operand, unsigned number) {
  const std::string text = std::to_string(number);
  return operand == "x" + text || operand == "w" + text;
}

bool is_base_moved(const Line& line, const std::string& base) {
  for (size_t i = 0; i < line.operands.size(); ++i) {
    const std::string& operand = line.operands[i];
    if (!operand.starts_with("[" + base + "]") && !operand.starts_with("[" + base + ",")) continue;
    return operand.ends_with("!") || i + 1 < line.operands.size();
  }
  return false;
}

bool writes_stack_pointer_by_text(const Line& line) {
  if (is_base_moved(line, "sp")) return true;
  return !only_reads(line.mnemonic) && !line.operands.empty() &&
         (line.operands[0] == "sp" || line.operands[0] == "wsp");
}

bool writes_by_text(const Line& line, unsigned number) {
  const auto& operands = line.operands;
  if (is_branch(line) || only_reads(line.mnemonic) || operands.empty()) return false;
  if (is_base_moved(line, "x" + std::to_string(number))) return true;
  const std::string& name = line.mnemonic;
  const bool loads_and_writes =
      starts_with_any(name, {"ldadd", "ldclr", "ldeor", "ldset", "ldsm", "ldum", "swp"});
  if (loads_and_writes) return operands.size() > 1 && is_register(operands[1], number);
  if (name.starts_with("st"))
    return name.find('x') != name.npos && is_register(operands[0], number);
  const bool is_pair = starts_with_any(name, {"ldp", "ldnp", "ldxp", "ldaxp"});
  return is_register(operands[0], number) || (is_pair && is_register(operands[1], number));
}

uint64_t target_by_text(const Line& line) {
  return line.operands.empty() ? 0 : std::strtoull(line.operands.back().c_str(), nullptr, 16);
}

std::vector<Line> disassemble(const std::string& path) {
  std::vector<Line> lines;
  const char* root = std::getenv("SYSROOT");
  const std::string command =
      "aarch64-linux-gnu-objdump -d -w '" + std::string{root != nullptr ? root : ""} + path + "'";
  const std::unique_ptr<FILE, int (*)(FILE*)> listing{popen(command.c_str(), "r"), pclose};
  char text[1024];
  while (listing && std::fgets(text, sizeof text, listing.get()) != nullptr)
    if (auto line = line_of(text)) lines.push_back(std::move(*line));
  return lines;
}

std::array<uint8_t, 4> bytes_of(uint32_t word) {
  return {static_cast<uint8_t>(word), static_cast<uint8_t>(word >> 8),
          static_cast<uint8_t>(word >> 16), static_cast<uint8_t>(word >> 24)};
}

class Decoder : public testing::TestWithParam<const char*> {};

TEST_P(Decoder, AgreesWithObjdumpThroughAWholeLibrary) {
  size_t wrongly_written = 0;
  size_t instructions = 0;
  std::unordered_set<uint32_t> seen;
  for (const Line& line : disassemble(GetParam())) {
    if (line.mnemonic.starts_with(".")) continue;  // unknown to objdump, or data
    ++instructions;
    const auto bytes = bytes_of(line.word);
    const auto step = step_at(line.address, bytes);
    ASSERT_TRUE(step) << line.text;
    EXPECT_EQ(step->flow, flow_by_text(line)) << line.text;
    EXPECT_EQ(step->target, step->has_target ? target_by_text(line) : 0) << line.text;
    const bool moves = writes_stack_pointer_by_text(line);
    EXPECT_EQ(writes_stack_pointer(line.word), moves) << line.text;
    EXPECT_TRUE(step->moves_stack || !(moves || writes_by_text(line, kFrameNumber))) << line.text;
    if (!seen.insert(line.word).second) continue;
    for (uint8_t number = 0; number <= kLinkNumber; ++number) {
      const bool writes = writes_by_text(line, number);
      const bool may = may_write(line.word, number);
      EXPECT_TRUE(may || !writes) << line.text << ": x" << +number;
      wrongly_written += may && !writes && !is_branch(line);
    }
  }
  std::printf("%s: %zu instructions, %zu different, %zu registers taken as written\n", GetParam(),
              instructions, seen.size(), wrongly_written);
  EXPECT_GT(instructions, 100'000u);
  EXPECT_LT(wrongly_written * 20, seen.size());
}

INSTANTIATE_TEST_SUITE_P(AArch64, Decoder,
                         testing::Values("/lib/aarch64-linux-gnu/libc.so.6",
                                         "/usr/lib/aarch64-linux-gnu/libstdc++.so.6"));

}  // namespace
}  // namespace tracectl
