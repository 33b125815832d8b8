// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <algorithm>
#include <vector>

namespace tracectl {

// Sorts the list and leaves each value once.
template <class T> void sort_once(std::vector<T>& list) {
  std::ranges::sort(list);
  list.erase(std::unique(list.begin(), list.end()), list.end());
}

}  // namespace tracectl
