// SPDX-License-Identifier: BSD-2-Clause
//
// Input: the state of a previous daemon; if it can be read, writing it and reading it again gives the same.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "daemon/saved/engine_state.h"

using namespace tracectl;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto state = decode_engine_state({reinterpret_cast<const char*>(data), size});
  if (!state) return 0;
  const auto again = decode_engine_state(encode(*state));
  if (!again || encode(*again) != encode(*state)) std::abort();
  return 0;
}
