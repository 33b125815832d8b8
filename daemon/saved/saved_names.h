// SPDX-License-Identifier: BSD-2-Clause
//
// The names under which the engine's descriptors outlive the daemon. The kernel's own: kernel/saved_tables.cpp.
#pragma once

#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/model/probe.h"

namespace tracectl {

inline std::string name_of_link(uint32_t incarnation, Way way) {
  return "link." + std::to_string(incarnation) + "." + std::to_string(static_cast<int>(way));
}
inline std::string name_of_beside(uint32_t incarnation) {
  return "beside." + std::to_string(incarnation);
}
inline std::string name_of_ring(uint32_t session, unsigned cpu) {
  return "ring." + std::to_string(session) + "." + std::to_string(cpu);
}
inline std::string name_of_object(uint32_t number) { return "object." + std::to_string(number); }
inline std::string name_of_state(uint32_t number) { return "engine." + std::to_string(number); }

// Returns the numbers in such a name; none if it is not such a name.
inline std::vector<uint32_t> numbers_in(std::string_view name) {
  std::vector<uint32_t> numbers;
  for (size_t dot = name.find('.'); dot != std::string_view::npos; dot = name.find('.', dot + 1)) {
    uint32_t number = 0;
    const auto [end, error] =
        std::from_chars(name.data() + dot + 1, name.data() + name.size(), number);
    if (error != std::errc{} || (end != name.data() + name.size() && *end != '.')) return {};
    numbers.push_back(number);
  }
  return numbers;
}

}  // namespace tracectl
