// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

#include "daemon/model/stack.h"

namespace tracectl {

// Stacks in the input format of flame graphs: a line for each, with its functions, the outermost first, and
// its count.
class FoldedStacks {
 public:
  explicit FoldedStacks(StackFormat format = StackFormat::symbols) : format_(format) {}
  void add(const Stack& stack, uint64_t count = 1);
  // `main;work;leaf 42`, in alphabetical order. If a stack was cut off, its first word is `[cut]`.
  std::string text() const;

 private:
  // A bound, because calls can differ in any number of ways.
  static constexpr size_t kMostKeptBytes = 128 << 20;  // of their lines

  StackFormat format_;
  std::map<std::string, uint64_t> counts_;
  size_t kept_bytes_ = 0;
  uint64_t others_ = 0;  // that found no room
};

}  // namespace tracectl
