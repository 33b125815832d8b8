// SPDX-License-Identifier: BSD-2-Clause
//
// Input: a symbol.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "daemon/object/demangle.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  constexpr size_t kMostNameBytes = 64 << 10;
  const std::string symbol(reinterpret_cast<const char*>(data), size);
  for (const auto& of : {tracectl::demangle, tracectl::demangle_name})
    if (const auto name = of(symbol); name && name->size() > kMostNameBytes) std::abort();
  return 0;
}
