// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "daemon/base/result.h"

namespace tracectl {

enum class ProbeKind { function, usdt, line, inlined };
constexpr ProbeKind last_of(ProbeKind) { return ProbeKind::inlined; }

// The two scopes, as in Erlang's trace_pattern: exported functions only, or every symbol; or every symbol and the copies of
// the functions that compilers have inlined.
enum class Scope { local, global, inlined };
constexpr Scope last_of(Scope) { return Scope::inlined; }

// uprobe:OBJECT:FUNCTION[+OFFSET], usdt:OBJECT:PROVIDER:NAME, or a line of source: uprobe:OBJECT@FILE:LINE[:COLUMN], in one
// function uprobe:OBJECT:FUNCTION@FILE:LINE[:COLUMN]. Short for a function: OBJECT:FUNCTION, or a bare FUNCTION; for a line:
// OBJECT@FILE:LINE. A copy of an inlined function: uprobe:OBJECT:FUNCTION in HOST[@FILE:LINE[:COLUMN]], with the place of the
// call; short: without uprobe:, or without OBJECT.
struct Pattern {
  ProbeKind kind = ProbeKind::function;
  std::string object;    // absolute path, glob over base names, or empty: the main executable
  std::string function;  // glob; of a line the function that has its code, or empty: any
  std::string host;      // glob: the function that has the copy; inlined functions only
  uint64_t offset = 0;   // bytes from the function's start; functions only
  std::string provider;  // glob; USDT only
  std::string name;      // glob; USDT only
  std::string
      file;  // the end of a path, from a slash on, or a glob for such ends; of lines and calls
  uint32_t line = 0;    // 0: all lines; of lines and calls
  uint32_t column = 0;  // 0: any; of lines and calls
  Scope scope = Scope::local;
  // Without OBJECT: of the main executable; if that has none, of whatever the processes map.
  bool bare = false;

  bool operator==(const Pattern&) const = default;
  template <class Self, class F> static void fields(Self& s, F&& f) {
    f("kind", s.kind);
    f("object", s.object);
    f("function", s.function);
    f("host", s.host);
    f("offset", s.offset);
    f("provider", s.provider);
    f("name", s.name);
    f("file", s.file);
    f("line", s.line);
    f("column", s.column);
    f("scope", s.scope);
    f("bare", s.bare);
  }
};

// Parses the grammar of tracectl-patterns(7). The error has a spot for the caret.
Result<Pattern> parse_pattern(std::string_view text, Scope scope = Scope::local);

// The canonical form, which is the long one unless the pattern is bare; parse_pattern(to_string(p)) == p for the same
// scope.
std::string to_string(const Pattern& pattern);

// Supports `*`, `?`, `[...]` with ranges, and `!` or `^` for negation. The whole text must match.
bool glob_match(std::string_view glob, std::string_view text);
bool is_glob(std::string_view text);

// Whether OBJECT, a glob or a name, names files of this name, without directories: `libc` and `libc.so` name libc.so.6.
bool names_file_name(std::string_view object, std::string_view file_name);

// Whether FILE of a line names the source file with this path: as its whole end from a slash on, or as a glob for such an end.
bool names_source(std::string_view file, std::string_view path);

// The address in the file, with the offset, if FUNCTION is one: 0x and hexadecimal digits.
std::optional<uint64_t> address_in(const Pattern& pattern);

// Whether FUNCTION, PROVIDER, NAME or FILE is a glob, or LINE is all, so that the pattern asks for whatever there is, and for
// no probe by name.
bool names_by_glob(const Pattern& pattern);

// Whether a USDT name matches a glob, where `__` in the name also matches `-` in the glob.
bool usdt_name_match(std::string_view glob, std::string_view name);

// Whether FUNCTION is to be compared with demangled names.
bool wants_demangled(const Pattern& pattern);

}  // namespace tracectl
