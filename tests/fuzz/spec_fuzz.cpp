// SPDX-License-Identifier: BSD-2-Clause
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "daemon/model/setting.h"
#include "daemon/spec/parse.h"

using namespace tracectl;

namespace {

void must(bool promise) {
  if (!promise) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string_view text{reinterpret_cast<const char*>(data), size};
  if (auto keys = parse_keys(text)) {
    auto same = parse_keys(keys_text(*keys));
    must(same && *same == *keys);
  }
  auto spec = parse_spec(text);
  if (!spec) {
    must(!spec.error().spot || spec.error().spot->column <= text.size());
    return 0;
  }
  auto again = parse_spec(to_string(*spec));
  must(again && *again == *spec);
  return 0;
}
