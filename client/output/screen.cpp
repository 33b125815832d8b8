// SPDX-License-Identifier: BSD-2-Clause
#include "client/output/screen.h"

#include "client/output/output.h"

namespace tracectl {
namespace {

constexpr const char* kClear = "\033[H\033[J";

std::string first_lines(const std::string& text, size_t lines) {
  size_t end = 0;
  for (; lines > 0 && end < text.size(); --lines) {
    const size_t newline = text.find('\n', end);
    if (newline == std::string::npos) return text;
    end = newline + 1;
  }
  return text.substr(0, end);
}

}  // namespace

void print_in_place(const std::string& table) {
  constexpr size_t kCursorLine = 1;
  const size_t lines = terminal_size().lines;
  print(lines > kCursorLine ? kClear + first_lines(table, lines - kCursorLine) : table + "\n");
}

void print_last_in_place(const std::string& table) {
  print(terminal_size().lines ? kClear + table : table);
}

}  // namespace tracectl
