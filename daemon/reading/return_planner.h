// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <array>
#include <map>
#include <memory>
#include <optional>
#include <unordered_set>
#include <vector>

#include "daemon/base/result.h"
#include "daemon/code/exits.h"
#include "daemon/code/placement.h"
#include "daemon/model/probe.h"
#include "daemon/model/setting.h"
#include "daemon/reading/object_file.h"

namespace tracectl {

// Why a function's returns are seen in the way of its plan: the texts that ReturnPlan::reason can be.
inline constexpr const char* kAsAsked = "as asked for";
inline constexpr const char* kCallsNothing = "it calls nothing";
inline constexpr const char* kMayBeUnwound = "it may be unwound";
inline constexpr std::array kReturnReasons{"", kAsAsked, kCallsNothing, kMayBeUnwound};

// Borrows the file.
ReadFile reader_of(const ElfFile& file);

// How the returns of functions of one file are seen, and where their probes then sit.
//
// The kernel's trampoline takes the place of the return address. What reads return addresses meets
// it there: an exception ends in std::terminate, and a program that switches stacks beside the
// kernel's back returns to the wrong place. Nothing in a file says whether its program does such
// things, so by itself this takes the trampoline for functions only in which nobody else runs.
class ReturnPlanner {
 public:
  ReturnPlanner(const ObjectFile& object, const std::vector<Function>& all, Returns choice);

  struct Planned {
    Placement placement;
    std::shared_ptr<const ReturnPlan> plan;
  };
  // `placed` is where the probe would be without returns. Fails with the reason where returns cannot
  // be seen in the way that was chosen, or in none that is safe.
  Result<Planned> plan(const Function& function, const FunctionCode& code, const Placement& placed,
                       std::optional<Argument> result);

 private:
  Result<Planned> by_trampoline(const FunctionCode& code, const Placement& placed,
                                const char* reason) const;
  Result<Planned> by_exits(const Function& function, const FunctionCode& code,
                           const Placement& placed);
  Result<std::vector<ExitSite>> exits_of(const FunctionCode& code);
  Result<ExitSite> site_of(const Exit& exit) const;

  std::optional<CodeRange> part_at(uint64_t address);

  const ObjectFile& object_;
  const ElfFile& file_;
  Returns choice_;
  bool moves_stacks_ = false;
  std::unordered_set<uint64_t> starts_;             // of functions
  std::map<uint64_t, std::vector<uint8_t>> parts_;  // code of the function that is planned
};

}  // namespace tracectl
