// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace CLI {
class App;
}

namespace tracectl {

// What a grammar lets follow after some words.
struct Awaited {
  std::vector<std::pair<std::string, std::string>> verbs, options;  // with the help of each
  std::string value;   // its name in the help, as SESSION or FILE; empty: none
  std::string option;  // whose value that is, as "--pid"; empty: it is an argument
};
Awaited awaited_after(const CLI::App& app, std::span<const std::string> words);

// Values by the options that have them in these words, as "--pid"; of one that is repeated the last.
std::map<std::string, std::string> values_in(const CLI::App& app,
                                             std::span<const std::string> words);

}  // namespace tracectl
