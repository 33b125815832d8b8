// SPDX-License-Identifier: BSD-2-Clause
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <string>

#include "tests/support/exits_oracle.h"
#include "tests/support/program.h"

// The exits of every function of programs on this machine, compared with the text of objdump.
namespace tracectl {
namespace {

std::string without_prefixes(std::string text) {
  for (const char* prefix : {"bnd ", "repz ", "rep ", "notrack ", "data16 ", "cs ", "ds "})
    if (text.starts_with(prefix)) text.erase(0, std::strlen(prefix));
  return text;
}

// Whether the code before the jump computed its register by an addition, or a load by index. A constant is added to
// pointers of other kinds.
bool comes_from_a_table(ListedLines::const_iterator jump, ListedLines::const_iterator first) {
  const std::string text = jump->second;
  if (text.find(",8)") != std::string::npos) return true;
  if (text.find("*%") == std::string::npos) return false;
  const std::string into = "," + text.substr(text.find('%'));
  while (jump != first) {
    --jump;
    const std::string& above = jump->second;
    if (!above.ends_with(into) || above.starts_with("cmp") || above.starts_with("test")) continue;
    return (above.starts_with("add") && above.find('$') == std::string::npos) ||
           above.find(",8)") != std::string::npos;
  }
  return false;
}

void add_exit(ListedLines::const_iterator line, ListedLines::const_iterator first,
              const Ranges& ranges, std::set<std::string>& exits) {
  const std::string text = without_prefixes(line->second);
  if (text.starts_with("ret")) exits.insert(word(line->first, "ret"));
  if (!text.starts_with("j")) return;
  if (text.find(" *") != std::string::npos) {
    if (!comes_from_a_table(line, first)) exits.insert(word(line->first, "indirect tail jump"));
    return;
  }
  uint64_t target = std::strtoull(text.c_str() + text.find(' '), nullptr, 16);
  if (is_in(ranges, target) && target != ranges[0].first) return;
  const char* kind = text.starts_with("jmp") ? "tail jump" : "conditional tail jump";
  exits.insert(word(line->first, kind, target));
}

class Exits : public testing::TestWithParam<const char*> {};

TEST_P(Exits, AreThoseOfObjdumpThroughAWholeProgram) {
  const std::string path = on_kernel::installed_path(GetParam());
  const ExitsSurvey survey = survey_exits(path, {"objdump", add_exit});
  print(path, survey);
  EXPECT_GT(survey.functions, 500u);
  EXPECT_LT(survey.refusals * 20, survey.functions);  // 5 %
  for (const std::string& difference : survey.differences) ADD_FAILURE() << difference;
}

INSTANTIATE_TEST_SUITE_P(Code, Exits,
                         testing::Values("/usr/bin/python3", "/usr/bin/bash",
                                         "/usr/lib/x86_64-linux-gnu/libstdc++.so.6"));

}  // namespace
}  // namespace tracectl
