// SPDX-License-Identifier: BSD-2-Clause
//
// Makes stacks of what hits have brought. What a process maps is looked at while it lives, and kept
// when it has ended: when it is armed, with its first stack, and again when a stack leads to where
// nothing was known.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "daemon/events/process_image.h"
#include "daemon/model/event.h"

namespace tracectl {

// Every member may be called from any thread; calls wait for one another.
class Symbolizer {
 public:
  explicit Symbolizer(std::string debug_root = kDebugRoot) : files_(std::move(debug_root)) {}

  // What the process maps now.
  void remember(pid_t pid);
  Stack stack_of(pid_t pid, const RawStack& raw);
  Stack stack_of(const StackAddresses& addresses);

 private:
  static constexpr size_t kMostProcesses = 1024;

  struct Known {
    std::shared_ptr<const Process> process;
    ProcessImage image;
    uint64_t looked_at_ns = 0;  // when that was done
    uint64_t look_cost_ns = 0;  // how long it took
    uint64_t used = 0;          // greater: later
  };

  Known* look_at(pid_t pid);
  bool may_look_again(const Known& known) const;
  Known* find(pid_t pid, const RawStack& raw);
  void make_room();

  std::mutex mutex_;
  SymbolFiles files_;
  std::map<pid_t, Known> processes_;
  uint64_t uses_ = 0;
};

}  // namespace tracectl
