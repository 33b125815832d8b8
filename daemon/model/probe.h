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
#include "daemon/model/refusal.h"

namespace tracectl {

// How the kernel runs a site's programs. Each way serves more kinds of hooks than those before it.
enum class Way : uint8_t { counting, entry, sleeping, trampoline, exits };
constexpr Way last_of(Way) { return Way::exits; }

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
  CostClass cost = CostClass::slow;

  bool operator==(const ExitSite&) const = default;
  template <class Self, class F> static void fields(Self& s, F&& f) {
    f("offset", s.offset);
    f("has_result", s.has_result);
    f("condition", s.condition);
    f("jump_bytes", s.jump_bytes);
    f("cost", s.cost);
  }
};

// Why a function's returns are traced in the way of its plan.
enum class WayReason : uint8_t { none, as_asked, calls_nothing, may_be_unwound };
constexpr WayReason last_of(WayReason) { return WayReason::may_be_unwound; }

inline const char* text_of(WayReason reason) {
  switch (reason) {
    case WayReason::none: return "";
    case WayReason::as_asked: return "as asked for";
    case WayReason::calls_nothing: return "it calls nothing";
    case WayReason::may_be_unwound: return "it may be unwound";
  }
  return "";
}

// How the returns of a function's calls are traced.
struct ReturnPlan {
  Way way = Way::entry;
  WayReason reason = WayReason::none;
  uint32_t pushed_bytes = 0;         // on the stack above the return address, at the probe
  uint32_t moved_bytes = 0;          // from the function's start to the probe
  bool by_goroutine = false;         // a call begins and ends in one goroutine, not in one thread
  std::vector<ExitSite> exits{};     // for Way::exits only
  std::optional<Argument> result{};  // its type; none if not known

  bool operator==(const ReturnPlan&) const = default;
  template <class Self, class F> static void fields(Self& s, F&& f) {
    f("way", s.way);
    f("reason", s.reason);
    f("pushed_bytes", s.pushed_bytes);
    f("moved_bytes", s.moved_bytes);
    f("by_goroutine", s.by_goroutine);
    f("exits", s.exits);
    f("result", s.result);
  }
};

// One address at which a probe fires.
struct Site {
  uint64_t offset = 0;       // of the probed instruction, in the file
  uint64_t moved_bytes = 0;  // from the function's start or the requested offset
  uint64_t semaphore = 0;    // in the file, 0 if there is none
  CostClass cost = CostClass::slow;
  bool nop5 = false;  // the instruction is a 5-byte nop, which the kernel may turn into a call
  std::shared_ptr<const Arguments> args;
  std::shared_ptr<const Arguments> symbols = {};  // the addresses that were asked for, or null
  std::shared_ptr<const ReturnPlan> returns;      // if requested
  std::shared_ptr<const Argument> result = {};    // of the function, where types are listed
  // The distance of the return address from rsp in words, if rbp is not yet the function's own.
  std::optional<unsigned> words_below_caller = {};

  template <class Self, class F> static void fields(Self& s, F&& f) {
    f("offset", s.offset);
    f("moved_bytes", s.moved_bytes);
    f("semaphore", s.semaphore);
    f("cost", s.cost);
    f("nop5", s.nop5);
    f("args", s.args);
    f("symbols", s.symbols);
    f("returns", s.returns);
    f("result", s.result);
    f("words_below_caller", s.words_below_caller);
  }
};

// What expressions can use at the site: its arguments, then its symbols.
std::shared_ptr<const Arguments> operands_of(const Site& site);

// A function or USDT probe of one object.
struct Probe {
  std::string name;  // canonical: uprobe:PATH:FUNCTION or usdt:PATH:PROVIDER:NAME
  std::optional<std::string> demangled;
  std::vector<Site> sites;

  template <class Self, class F> static void fields(Self& s, F&& f) {
    f("name", s.name);
    f("demangled", s.demangled);
    f("sites", s.sites);
  }
};

}  // namespace tracectl
