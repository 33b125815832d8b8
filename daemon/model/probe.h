// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "daemon/model/argument.h"
#include "daemon/model/cost.h"

namespace tracectl {

// How the kernel runs a site's programs. Each way serves more kinds of hooks than those before it.
enum class Way : uint8_t { counting, entry, sleeping, trampoline, exits };

inline const char* name_of(Way way) {
  switch (way) {
    case Way::counting: return "counting";
    case Way::entry: return "entry";
    case Way::sleeping: return "sleeping";
    case Way::trampoline: return "trampoline";
    case Way::exits: return "exits";
  }
  return "";
}

// An instruction by which a function exits.
struct ExitSite {
  uint64_t offset = 0;                 // in the file
  bool has_result = false;             // it is a return, not a jump to another function
  std::optional<uint8_t> condition{};  // for a jump: the low 4 bits of its opcode (Intel SDM, Jcc)
  uint8_t jump_bytes = 0;  // length of a relative jump, which ends with the distance; else 0

  bool operator==(const ExitSite&) const = default;
};

// How the returns of a function's calls are traced.
struct ReturnPlan {
  Way way = Way::entry;
  const char* reason = "";           // why this way was chosen
  uint32_t pushed_bytes = 0;         // on the stack above the return address, at the probe
  uint32_t moved_bytes = 0;          // from the function's start to the probe
  std::vector<ExitSite> exits{};     // for Way::exits only
  std::optional<Argument> result{};  // its type; none if not known

  bool operator==(const ReturnPlan&) const = default;
};

// One address at which a probe fires.
struct Site {
  uint64_t offset = 0;       // of the probed instruction, in the file
  uint64_t moved_bytes = 0;  // from the function's start or the requested offset
  uint64_t semaphore = 0;    // in the file, 0 if there is none
  CostClass cost = CostClass::slow;
  std::shared_ptr<const Arguments> args;
  std::shared_ptr<const ReturnPlan> returns;  // if requested
  // The distance of the return address from rsp in words, if rbp is not yet the function's own.
  std::optional<unsigned> words_below_caller = {};
};

// A function or USDT probe of one object.
struct Probe {
  std::string name;  // canonical: uprobe:PATH:FUNCTION or usdt:PATH:PROVIDER:NAME
  std::optional<std::string> demangled;
  std::vector<Site> sites;
};

// A matching probe, or a site of one, that cannot be armed.
struct Refusal {
  std::string probe;
  std::optional<uint64_t> offset;  // in the file
  std::optional<pid_t> pid;        // if the reason concerns one process
  std::string reason;
};

}  // namespace tracectl
