// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "client/options/options.h"
#include "client/verbs/verb.h"

namespace tracectl {

struct CommandLine {
  CommonOptions common;
  std::vector<std::unique_ptr<Verb>> verbs;  // all that there are
  Verb* chosen = nullptr;
};

// Reads the words of a command line. Prints errors and help; returns an exit status if there is nothing to run.
std::optional<int> read(std::vector<std::string> words, CommandLine& line);

}  // namespace tracectl
