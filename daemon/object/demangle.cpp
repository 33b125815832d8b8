// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/object/demangle.h"

#include <cxxabi.h>
#define HAVE_DECL_BASENAME 1  // else libiberty declares a basename() that differs from <cstring>'s
#include <libiberty/demangle.h>

#include <algorithm>
#include <cstdlib>
#include <memory>

namespace tracectl {
namespace {

struct Free {
  void operator()(char* text) const { std::free(text); }
};

// rustc's legacy mangling ends in ::h and 16 hex digits.
void drop_rust_hash(std::string& name) {
  constexpr size_t kHash = 19;
  if (name.size() <= kHash || name.compare(name.size() - kHash, 3, "::h") != 0) return;
  const auto digits = name.end() - 16;
  if (std::all_of(digits, name.end(), [](unsigned char c) { return std::isxdigit(c); }))
    name.resize(name.size() - kHash);
}

// rustc's mangling v0; the result has no hashes of crates.
std::optional<std::string> demangle_rust(const std::string& symbol) {
  const std::unique_ptr<char, Free> text{::rust_demangle(symbol.c_str(), DMGL_NO_OPTS)};
  if (!text) return std::nullopt;
  return std::string(text.get());
}

std::optional<std::string> demangle_cxx(const std::string& symbol) {
  int status = 0;
  const std::unique_ptr<char, Free> text{
      abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, &status)};
  if (status != 0 || !text) return std::nullopt;
  return std::string(text.get());
}

std::optional<std::string> demangle_cxx_name(const std::string& symbol) {
  const std::unique_ptr<char, Free> text{::cplus_demangle_v3(symbol.c_str(), DMGL_NO_OPTS)};
  if (!text) return std::nullopt;
  return std::string(text.get());
}

std::optional<std::string> demangle_by(std::optional<std::string> (*cxx)(const std::string&),
                                       const std::string& symbol) {
  if (symbol.rfind("_R", 0) == 0) return demangle_rust(symbol);
  if (symbol.rfind("_Z", 0) != 0) return std::nullopt;
  auto name = cxx(symbol);
  if (name) drop_rust_hash(*name);
  return name;
}

}  // namespace

std::optional<std::string> demangle(const std::string& symbol) {
  return demangle_by(demangle_cxx, symbol);
}

std::optional<std::string> demangle_name(const std::string& symbol) {
  return demangle_by(demangle_cxx_name, symbol);
}

}  // namespace tracectl
