// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/object/demangle.h"

#define HAVE_DECL_BASENAME 1  // else libiberty declares a basename() that differs from <cstring>'s
#include <libiberty/demangle.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <csetjmp>
#include <cstring>

#include "daemon/object/rust_names.h"

namespace tracectl {
namespace {

constexpr size_t kMostDemangledBytes = 64 << 10;

// A name as libiberty gives it, piece by piece.
struct Pieces {
  size_t size;
  std::jmp_buf too_long;
  std::array<char, kMostDemangledBytes> text;
};

// Symbols refer to parts of themselves, so a short one can stand for a name that is longer than any memory. libiberty holds
// no memory while it gives a piece, and cannot be stopped in another way.
void take_piece(const char* piece, size_t size, void* to) {
  Pieces& pieces = *static_cast<Pieces*>(to);
  if (size > pieces.text.size() - pieces.size) std::longjmp(pieces.too_long, 1);
  std::memcpy(pieces.text.data() + pieces.size, piece, size);
  pieces.size += size;
}

using Demangler = int (*)(const char* symbol, int options, demangle_callbackref, void* to);

std::optional<std::string> demangle_by(Demangler demangler, const std::string& symbol,
                                       int options) {
  Pieces pieces;
  pieces.size = 0;
  if (setjmp(pieces.too_long) != 0) return std::nullopt;
  if (!demangler(symbol.c_str(), options, take_piece, &pieces)) return std::nullopt;
  return std::string(pieces.text.data(), pieces.size);
}

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

// `options`: what of a C++ function is wanted.
std::optional<std::string> demangle_with(int options, const std::string& symbol) {
  if (symbol.starts_with("_R")) return demangle_rust_v0(symbol);
  if (!symbol.starts_with("_Z")) return std::nullopt;
  if (const std::string rust = without_suffix(symbol); is_legacy_rust(rust))
    if (auto name = demangle_by(rust_demangle_callback, rust, DMGL_NO_OPTS)) return name;
  return demangle_by(cplus_demangle_v3_callback, symbol, options);
}

}  // namespace

std::optional<std::string> demangle(const std::string& symbol) {
  return demangle_with(DMGL_PARAMS | DMGL_TYPES, symbol);
}

std::optional<std::string> demangle_name(const std::string& symbol) {
  return demangle_with(DMGL_NO_OPTS, symbol);
}

}  // namespace tracectl
