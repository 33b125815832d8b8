// SPDX-License-Identifier: BSD-2-Clause
//
// The command line of dtrace(1), as far as builds use it. Parsed without a library, because -h does
// not ask for help, -32 and -fPIC are words with one dash, and options of other dtraces are
// skipped.
#pragma once

#include <string>
#include <vector>

#include "daemon/base/result.h"

namespace tracectl::generator {

struct Options {
  enum class Action { header, object, help, version };

  Action action = Action::help;
  std::string input;
  std::string output;  // "-" is the standard output
  bool is_preprocessed = false;
  std::vector<std::string> preprocessor;  // -I, -D and -U, one word each
};

Result<Options> read_options(const std::vector<std::string>& words);

std::string help_text();

}  // namespace tracectl::generator
