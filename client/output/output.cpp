// SPDX-License-Identifier: BSD-2-Clause
#include "client/output/output.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace tracectl {

void print(const std::string& text) { std::fwrite(text.data(), 1, text.size(), stdout); }

void print_error(const std::string& text) {
  std::fflush(stdout);
  std::fwrite(text.data(), 1, text.size(), stderr);
}

TerminalSize terminal_size() {
  winsize size{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0) return {};
  return {.lines = size.ws_row, .columns = size.ws_col};
}

bool is_terminal() { return ::isatty(STDOUT_FILENO); }

bool is_coloured() {
  const char* none = std::getenv("NO_COLOR");
  const char* terminal = std::getenv("TERM");
  if ((none && *none) || !is_terminal()) return false;
  return terminal && std::string_view(terminal) != "dumb";
}

int fail(const Error& error) {
  print_error(error_text(error));
  return exit_status_of(error);
}

}  // namespace tracectl
