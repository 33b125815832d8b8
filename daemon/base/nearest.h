// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tracectl {

// Of the names that are at most two edits away from `wrong`, the nearest first, each once, `most` at most.
std::vector<std::string_view> nearest_names(std::string_view wrong,
                                            std::span<const std::string_view> names, size_t most);

// The end of a message that refuses `wrong`: `; did you mean "pid"?` with the nearest of `names` that is at
// most two edits away, or nothing.
std::string did_you_mean(std::string_view wrong, std::span<const std::string_view> names);

inline std::string did_you_mean(std::string_view wrong,
                                std::initializer_list<std::string_view> names) {
  return did_you_mean(wrong, std::span<const std::string_view>{names.begin(), names.size()});
}

}  // namespace tracectl
