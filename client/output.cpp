// SPDX-License-Identifier: BSD-2-Clause
#include "client/output.h"

#include <cstdio>

namespace tracectl {

void print(const std::string& text) { std::fwrite(text.data(), 1, text.size(), stdout); }

void print_error(const std::string& text) {
  std::fflush(stdout);
  std::fwrite(text.data(), 1, text.size(), stderr);
}

int fail(const Error& error) {
  print_error(error_text(error));
  return exit_status_of(error);
}

}  // namespace tracectl
