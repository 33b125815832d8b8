// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/model/pattern.h"
#include "daemon/model/spec.h"
#include "daemon/model/target.h"

namespace tracectl {

// How the return of a call is seen. A trampoline kills a program that unwinds through the call.
enum class Returns : uint8_t {
  automatic,   // by a trampoline where nothing can unwind, else by exits
  trampoline,  // the kernel's: a uprobe session
  exits,       // probes on the instructions by which the function leaves
};

const char* name_of(Returns returns);
std::optional<Returns> returns_named(std::string_view name);

// Makes of a setting one that measures: the time from a hit of `from` to one of the setting's own
// pattern for which the keys have the same values, in whatever thread or process of the target.
struct Latency {
  static constexpr uint32_t kSlowest = 5, kMostSlowest = 32;

  Pattern from;
  std::vector<Expr> by;         // worked out at both hits
  uint32_t slowest = kSlowest;  // how many are kept one by one

  bool operator==(const Latency&) const = default;
};

// What is shown below the calls of a setting whose spec has `graph`.
struct GraphScope {
  std::vector<Pattern> only;  // these functions; none: those that can be reached, as far as known
  std::vector<std::string> skip;    // none of these, globs as in patterns
  std::vector<Pattern> beside;      // probes that are no calls, where they fire within
  bool grow = false;                // functions that are seen called by computed addresses, too
  std::vector<Pattern> grown = {};  // those so far: each one function of one file, no globs

  bool operator==(const GraphScope&) const = default;
};

// What a session stages: these probes, in these processes, shall do this.
struct Setting {
  Pattern pattern;
  Target target;
  Spec spec;
  Returns returns = Returns::automatic;
  std::optional<Latency> latency = {};
  GraphScope graph = {};

  bool operator==(const Setting&) const = default;
};

// Whether the returns of functions are of any interest.
bool follows_calls(const Setting& setting);
// Whether it shows, asks for or keeps anything by the tags of threads.
bool uses_tags(const Setting& setting);
// The keys as --by takes them.
std::string keys_text(const std::vector<Expr>& keys);

}  // namespace tracectl
