// SPDX-License-Identifier: BSD-2-Clause
//
// Splits a DTrace provider file into words. Handles lines that begin with #:
//   #define NAME REPLACEMENT, #undef     replaces NAME from there on, like the C preprocessor
//   # 12 "file.h" 1 3, #line             sets the file and line of the following lines
//   #if and similar                      refused: they need the preprocessor
//   all others                           skipped: #pragma, #include, comments such as "# file: a.c"
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/base/result.h"

namespace tracectl::generator {

// Larger inputs are refused.
constexpr size_t kMostFileBytes = size_t{16} << 20;
constexpr size_t kMostTokens = size_t{1} << 18;

// A position in the text, and its file and line for messages.
struct Place {
  size_t at = 0;      // bytes from the start of the text
  uint32_t file = 0;  // index into Source::files
  uint32_t line = 1;
};

struct Token {
  enum class Kind { word, literal, sign, end };

  Kind kind = Kind::end;
  std::string_view text;  // a sign has one character
  Place place;            // for a replacement, the place of the replaced word

  bool is(std::string_view what) const { return kind != Kind::literal && text == what; }
};

struct Source {
  // The first is the provider file; the others are those it includes.
  struct File {
    std::string path;
    bool is_system = false;
  };

  std::string_view text;  // must outlive the Source
  std::vector<File> files;
  std::vector<Token> tokens;  // the last one is the end
};

// Errors call the file `path`.
Result<Source> lex(std::string_view text, std::string path);

// The message begins with file:line:column, as a compiler's; the spot is the line.
Error error_at(const Source& source, const Place& place, const std::string& message);

}  // namespace tracectl::generator
