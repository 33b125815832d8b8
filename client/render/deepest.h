// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "daemon/model/event.h"

namespace tracectl {

// The deepest stack of each thread, from events of the action `deepest`: each event of a thread is deeper
// than the one before. Their first value is the depth, stack_bytes.
class DeepestStacks {
 public:
  void add(const Event& event);
  // A table for each thread, for at most this many, the deepest first.
  std::string text(size_t most_threads) const;

 private:
  static constexpr size_t kMostKept = 4096;  // threads; the deepest are kept

  struct Kept {
    pid_t pid = 0, tid = 0;
    std::string comm;
    uint64_t bytes = 0;
    std::shared_ptr<const Stack> stack;
  };

  Kept* room_for(const Event& event, uint64_t bytes);
  static std::string text_of(const Kept& kept);

  std::vector<Kept> kept_;
  bool left_out_ = false;  // threads that found no room
};

}  // namespace tracectl
