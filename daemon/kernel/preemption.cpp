// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/kernel/preemption.h"

#include <fstream>
#include <iterator>
#include <sstream>
#include <string>

namespace tracectl {

std::optional<bool> preempts(std::string_view command_line) {
  constexpr std::string_view kOption = "preempt=";
  std::optional<bool> said;
  std::istringstream words{std::string(command_line)};
  for (std::string word; words >> word;) {
    if (word == "--") break;  // the rest is for the first process
    if (!word.starts_with(kOption)) continue;
    const std::string mode = word.substr(kOption.size());
    if (mode == "none" || mode == "voluntary") said = false;
    if (mode == "full" || mode == "lazy") said = true;
  }
  return said;
}

std::optional<bool> told_to_preempt() {
  std::ifstream file("/proc/cmdline");
  return preempts(std::string(std::istreambuf_iterator<char>(file), {}));
}

}  // namespace tracectl
