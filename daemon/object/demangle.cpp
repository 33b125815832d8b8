// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/object/demangle.h"

#include <cxxabi.h>
#define HAVE_DECL_BASENAME 1  // else libiberty declares a basename() that differs from <cstring>'s
#include <libiberty/demangle.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <memory>
#include <string_view>

namespace tracectl {
namespace {

struct Free {
  void operator()(char* text) const { std::free(text); }
};

// Without what LLVM appends to names of functions that it has made visible to other units.
std::string without_suffix(const std::string& symbol) {
  return symbol.substr(0, symbol.find(".llvm."));
}

// rustc's legacy mangling is C++'s of a name that ends in a hash: ::h and 16 hex digits.
bool is_legacy_rust(std::string_view symbol) {
  constexpr std::string_view kHash = "17h";
  constexpr size_t kDigits = 16, kEnd = kHash.size() + kDigits + 1;
  if (symbol.size() < kEnd || !symbol.ends_with('E')) return false;
  const auto end = symbol.substr(symbol.size() - kEnd);
  const auto digits = end.substr(kHash.size(), kDigits);
  return end.starts_with(kHash) &&
         std::ranges::all_of(digits, [](unsigned char c) { return std::isxdigit(c); });
}

// Both of rustc's manglings; the result has no hashes.
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
  if (const std::string rust = without_suffix(symbol); is_legacy_rust(rust))
    if (auto name = demangle_rust(rust)) return name;
  return cxx(symbol);
}

}  // namespace

std::optional<std::string> demangle(const std::string& symbol) {
  return demangle_by(demangle_cxx, symbol);
}

std::optional<std::string> demangle_name(const std::string& symbol) {
  return demangle_by(demangle_cxx_name, symbol);
}

}  // namespace tracectl
