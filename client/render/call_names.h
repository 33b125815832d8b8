// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>

namespace tracectl {

// Without what a terminal would obey.
std::string printable(std::string_view text);

// Functions as people call them, whatever their files: `query`, `ns::parse`; a USDT probe is
// `provider:name`. What is no probe's name is its own.
class CallNames {
 public:
  // `probe` is a canonical name.
  const std::string& of(const std::string& probe);

 private:
  std::unordered_map<std::string, std::string> names_;  // by probe
};

}  // namespace tracectl
