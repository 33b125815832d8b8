// SPDX-License-Identifier: BSD-2-Clause
#include "usdt/demangle.h"

#include <cxxabi.h>

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

}  // namespace

std::optional<std::string> demangle(const std::string& symbol) {
  if (symbol.rfind("_Z", 0) != 0) return std::nullopt;
  int status = 0;
  const std::unique_ptr<char, Free> text{
      abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, &status)};
  if (status != 0 || !text) return std::nullopt;
  std::string name = text.get();
  drop_rust_hash(name);
  return name;
}

}  // namespace tracectl
