// SPDX-License-Identifier: BSD-2-Clause
//
// Makes stacks of what hits have brought. What a process maps is looked at while it lives, and kept
// when it has ended: when it is armed, with its first stack, and again when a stack leads to where
// nothing was known. A process that executes another program has that program's stacks named by it, and
// those from before by what was kept; where nothing was, they stay addresses.
#pragma once

#include <sys/types.h>

#include <compare>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
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
  static constexpr size_t kMostKept = 1024;

  // A program that a process executes, or did.
  struct Executed {
    pid_t pid = 0;
    uint64_t image = 0;  // Process::image()
    auto operator<=>(const Executed&) const = default;
  };

  struct Known {
    std::shared_ptr<const Process> process;
    ProcessImage image;
    uint64_t looked_at_ns = 0;  // when that was done
    uint64_t look_cost_ns = 0;  // how long it took
    uint64_t used = 0;          // greater: later
  };

  Known* look_at(const Executed& program);
  bool may_look_again(const Known& known) const;
  Known* find(const Executed& program, uint64_t address);
  void make_room();

  std::mutex mutex_;
  SymbolFiles files_;
  std::map<Executed, Known> programs_;
  uint64_t uses_ = 0;
};

}  // namespace tracectl
