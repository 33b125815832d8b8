// SPDX-License-Identifier: BSD-2-Clause
//
// Input: a perf map or a jitdump file. Functions never overlap, and each has a name that a terminal can show.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "daemon/object/made_code.h"

using namespace tracectl;

namespace {

void must(bool promise) {
  if (!promise) std::abort();
}

void check(const MadeCode& made, uint64_t address) {
  const auto* function = made.at(address);
  if (!function) return;
  must(function->start <= address && address < function->end);
  must(!function->name.empty() && function->name.size() <= kMostMadeName);
  must(function->name.find_first_of("\n\x1b") == std::string::npos);
  must(made.at(function->start) == function && made.at(function->end - 1) == function);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes{reinterpret_cast<const char*>(data), size};
  const auto read_at = [&](uint64_t offset, size_t most) {
    return std::string(offset < bytes.size() ? bytes.substr(offset, most) : "");
  };
  for (const MadeCode& made : {MadeCode::of_perf_map(bytes), MadeCode::of_jitdump(read_at)}) {
    must(made.size() <= size);
    for (uint64_t address = 0; address < 0x4000; address += 0x7f) check(made, address);
  }
  return 0;
}
