// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>

namespace tracectl {

// The text without control characters, which a terminal would obey.
std::string printable(std::string_view text);

// Names of functions for people, without their files: `query`, `ns::parse`; a USDT probe is `provider:name`.
// A text that is not a probe's name stays as it is.
class CallNames {
 public:
  // `probe` is a canonical name.
  const std::string& of(const std::string& probe);

 private:
  std::unordered_map<std::string, std::string> names_;  // by probe
};

}  // namespace tracectl
