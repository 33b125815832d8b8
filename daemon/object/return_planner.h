// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <unordered_set>
#include <vector>

#include "daemon/base/result.h"
#include "daemon/model/probe.h"
#include "daemon/model/setting.h"
#include "daemon/object/code/exits.h"
#include "daemon/object/code/placement.h"
#include "daemon/object/object_file.h"

namespace tracectl {

// Borrows the file.
ReadFile reader_of(const ElfFile& file);

// Plans how the returns of functions of one file are traced, and where their probes then are.
//
// The kernel's trampoline replaces the return address. Code that reads return addresses finds it
// there: an exception ends in std::terminate, and a program that switches stacks without the kernel
// returns to the wrong place. A file does not show whether its program does such things, so by
// default this uses the trampoline only for functions in which no other code runs, and never in a
// Go program, which moves its stacks.
class ReturnPlanner {
 public:
  ReturnPlanner(const ObjectFile& object, const std::vector<Function>& all, Returns choice,
                const SiteCosts& costs);

  struct Planned {
    Placement placement;
    std::shared_ptr<const ReturnPlan> plan;
  };
  // `placed` is the probe's place without returns. Fails with the reason if returns cannot be
  // traced in the chosen way, or in no safe way.
  Result<Planned> plan(const Function& function, const FunctionCode& code, const Placement& placed,
                       Argument result);

 private:
  Result<Planned> by_trampoline(const FunctionCode& code, const Placement& placed,
                                WayReason reason) const;
  Result<Planned> by_exits(const Function& function, const FunctionCode& code,
                           const Placement& placed);
  // For a function that Go's compiler made.
  Result<Planned> by_goroutine(const FunctionCode& code, const Placement& placed);
  // `is_behind_check`: the probe is behind the check of a Go function's stack.
  Result<std::vector<ExitSite>> exits_of(const FunctionCode& code, bool is_behind_check = false);
  // `entry`: the address of its function.
  Result<ExitSite> site_of(const Exit& exit, uint64_t entry) const;
  // `offset`: of the exit, in the file.
  CostClass cost_of(const Exit& exit, uint64_t entry, uint64_t offset) const;

  std::optional<CodeRange> part_at(uint64_t address);

  const ObjectFile& object_;
  const ElfFile& file_;
  Returns choice_;
  const SiteCosts& costs_;
  bool moves_stacks_ = false;
  std::unordered_set<uint64_t> starts_;             // of functions
  std::map<uint64_t, std::vector<uint8_t>> parts_;  // code of the function being planned
};

}  // namespace tracectl
