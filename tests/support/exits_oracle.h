// SPDX-License-Identifier: BSD-2-Clause
//
// The exits of every function of a program, compared with the text of objdump. How exits look there depends on the
// machine.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace tracectl {

using ListedLines = std::map<uint64_t, std::string>;  // "ret", "jmp    *%rax"; by address

using Ranges = std::vector<std::pair<uint64_t, uint64_t>>;  // start, size

bool is_in(const Ranges& ranges, uint64_t address);

// An exit in words, for comparison.
std::string word(uint64_t address, const char* kind, uint64_t target = 0);

struct ExitText {
  std::string objdump;  // the command
  // Adds the exit at a line, if it is one, in words. `first` is the first line of its part of the function, of which
  // `ranges` are all parts.
  std::function<void(ListedLines::const_iterator line, ListedLines::const_iterator first,
                     const Ranges& ranges, std::set<std::string>& exits)>
      add_exit;
};

struct ExitsSurvey {
  size_t functions = 0;
  std::map<std::string, size_t> kinds;
  std::map<std::string, size_t> refused;
  size_t refusals = 0;
  std::vector<std::string> differences;
  std::chrono::nanoseconds took{};
};

ExitsSurvey survey_exits(const std::string& path, const ExitText& text);

void print(const std::string& path, const ExitsSurvey& survey);

}  // namespace tracectl
