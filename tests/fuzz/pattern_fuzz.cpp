// SPDX-License-Identifier: BSD-2-Clause
//
// Input: the first line is a pattern, the rest a name to match.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "daemon/model/pattern.h"

using namespace tracectl;

namespace {

void must(bool promise) {
  if (!promise) std::abort();
}

void check_match(const Pattern& pattern, std::string_view name) {
  if (pattern.kind == ProbeKind::usdt) {
    // USDT rules for __ only add matches.
    if (glob_match(pattern.name, name)) must(usdt_name_match(pattern.name, name));
    return;
  }
  if (pattern.kind == ProbeKind::line) {
    if (pattern.file == name) must(names_source(pattern.file, name));
    return;
  }
  bool matches = glob_match(pattern.function, name);
  if (!is_glob(pattern.function)) must(matches == (pattern.function == name));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string_view input{reinterpret_cast<const char*>(data), size};
  std::string_view text = input.substr(0, input.find('\n'));
  std::string_view name = input.substr(text.size());
  if (name.starts_with('\n')) name.remove_prefix(1);
  glob_match(text, name);
  auto pattern = parse_pattern(text);
  if (!pattern) {
    must(!pattern.error().spot || pattern.error().spot->column <= text.size());
    return 0;
  }
  auto again = parse_pattern(to_string(*pattern));
  must(again && *again == *pattern);
  check_match(*pattern, name);
  return 0;
}
