// SPDX-License-Identifier: BSD-2-Clause
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "tests/support/exits_oracle.h"

// The exits of every function of libraries, compared with the text of objdump. Under an emulator SYSROOT is where the
// libraries are.
namespace tracectl {
namespace {

std::string mnemonic_of(const std::string& text) {
  return text.substr(0, text.find_first_of(" \t"));
}

// "x1" of "br\tx1".
std::string last_operand_of(const std::string& text) {
  const size_t at = text.find_last_of(" \t");
  return at == text.npos ? "" : text.substr(at + 1);
}

// Whether the code before the jump computed its register by an addition, or a load by a scaled index.
bool comes_from_a_table(ListedLines::const_iterator jump, ListedLines::const_iterator first) {
  std::string wanted = last_operand_of(jump->second);
  while (jump != first) {
    --jump;
    const std::string& above = jump->second;
    const std::string name = mnemonic_of(above);
    const std::string operands = above.substr(above.find('\t') + 1);
    if (name == "ldp" && operands.find(", " + wanted + ", ") < operands.find('[')) return false;
    if (!operands.starts_with(wanted + ",")) continue;
    if (name == "cmp" || name == "str" || name == "stp") continue;
    if (name != "mov") return name == "add" || above.find("lsl #3]") != above.npos;
    wanted = last_operand_of(above);
  }
  return false;
}

uint64_t target_of(std::string text) {
  text = text.substr(0, text.find(" <"));
  return std::strtoull(text.c_str() + text.find_last_of(" \t"), nullptr, 16);
}

void add_exit(ListedLines::const_iterator line, ListedLines::const_iterator first,
              const Ranges& ranges, std::set<std::string>& exits) {
  const std::string name = mnemonic_of(line->second);
  if (name == "ret") exits.insert(word(line->first, "ret"));
  if (name == "br" && !comes_from_a_table(line, first))
    exits.insert(word(line->first, "indirect tail jump"));
  if (name != "b" && !name.starts_with("b.")) return;
  const uint64_t target = target_of(line->second);
  if (is_in(ranges, target) && target != ranges[0].first) return;
  exits.insert(word(line->first, name == "b" ? "tail jump" : "conditional tail jump", target));
}

class Exits : public testing::TestWithParam<const char*> {};

TEST_P(Exits, AreThoseOfObjdumpThroughAWholeLibrary) {
  const char* root = std::getenv("SYSROOT");
  const std::string path = std::string{root != nullptr ? root : ""} + GetParam();
  const ExitsSurvey survey = survey_exits(path, {"aarch64-linux-gnu-objdump", add_exit});
  print(path, survey);
  EXPECT_GT(survey.functions, 500u);
  EXPECT_LT(survey.refusals * 20, survey.functions);  // 5 %
  for (const std::string& difference : survey.differences) ADD_FAILURE() << difference;
}

INSTANTIATE_TEST_SUITE_P(AArch64, Exits,
                         testing::Values("/lib/aarch64-linux-gnu/libc.so.6",
                                         "/usr/lib/aarch64-linux-gnu/libstdc++.so.6"));

}  // namespace
}  // namespace tracectl
