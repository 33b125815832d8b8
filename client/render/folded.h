// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

#include "daemon/model/stack.h"

namespace tracectl {

// Stacks as flame graphs are drawn from: a line for each with its functions, the outermost first,
// and how often it came.
class FoldedStacks {
 public:
  void add(const Stack& stack, uint64_t count = 1);
  // `main;work;leaf 42`, in alphabetical order. Of a stack that was cut off the first word is
  // `[cut]`.
  std::string text() const;

 private:
  // Calls that differ in all kinds of ways could make any number of them.
  static constexpr size_t kMostKeptBytes = 128 << 20;  // of their lines

  std::map<std::string, uint64_t> counts_;
  size_t kept_bytes_ = 0;
  uint64_t others_ = 0;  // that there was no room for
};

}  // namespace tracectl
