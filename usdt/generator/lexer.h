// SPDX-License-Identifier: BSD-2-Clause
//
// The words of a DTrace provider file. Lines that begin with # are taken care of here:
//   #define NAME REPLACEMENT, #undef     NAME is replaced from there on, as by the C preprocessor
//   # 12 "file.h" 1 3, #line             where the lines that follow come from
//   #if and its kin                      refused: they need the preprocessor
//   all others                           left out: #pragma, #include, comments such as "# file: a.c"
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/base/result.h"

namespace tracectl::generator {

// What is refused rather than read for long.
constexpr size_t kMostFileBytes = size_t{16} << 20;
constexpr size_t kMostTokens = size_t{1} << 18;

// A spot in the text that was read, and where people look for it.
struct Place {
  size_t at = 0;      // bytes from the start of the text
  uint32_t file = 0;  // index into Source::files
  uint32_t line = 1;
};

struct Token {
  enum class Kind { word, literal, sign, end };

  Kind kind = Kind::end;
  std::string_view text;  // a sign has one character
  Place place;            // of a word that was replaced, where it stood

  bool is(std::string_view what) const { return kind != Kind::literal && text == what; }
};

struct Source {
  // The first is the provider file; the others it includes.
  struct File {
    std::string path;
    bool is_system = false;
  };

  std::string_view text;  // must outlive the Source
  std::vector<File> files;
  std::vector<Token> tokens;  // the last one is the end
};

// `path` is what errors call the file.
Result<Source> lex(std::string_view text, std::string path);

// Its message begins with file:line:column, as a compiler's does; its spot is the line.
Error error_at(const Source& source, const Place& place, const std::string& message);

}  // namespace tracectl::generator
