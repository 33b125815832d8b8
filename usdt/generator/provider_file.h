// SPDX-License-Identifier: BSD-2-Clause
//
// The declarations of a DTrace provider file, in the form that the generated header needs.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/base/result.h"

namespace tracectl::generator {

constexpr size_t kMostArguments = 12;

struct ProbeArgument {
  std::string type;  // in C: "const char*"
  std::string name;  // a name in C and in C++

  bool operator==(const ProbeArgument&) const = default;
};

struct ProbeDeclaration {
  std::string provider;
  std::string name;   // as written: query__start
  std::string macro;  // DATABASE_QUERY_START
  std::vector<ProbeArgument> arguments;
};

struct ProviderFile {
  std::vector<std::string> providers;
  std::vector<ProbeDeclaration> probes;
  std::set<std::string> headers;  // that define types of arguments: "stdint.h"
  std::set<std::string> tags;     // that arguments point to: "struct request"
};

// Parses the text of the file at `path`. An error's message begins with file:line:column; its spot
// is the line.
//
// The types of arguments are written so that the header needs no others wherever possible, and does
// not conflict with other definitions of the same names:
//   - a typedef of the file is replaced by its type; an enumeration is an int; a pointer to a
//     struct without a name is a pointer to void;
//   - the target of a pointer is const, because tracers only read: literals and const data may be
//     passed;
//   - types of D have their names in C: string is const char*.
// A name that is not known stays: it must be declared where the header is included.
Result<ProviderFile> parse_provider_file(std::string_view text, std::string path);

}  // namespace tracectl::generator
