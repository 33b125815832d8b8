// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/model/pattern.h"
#include "daemon/model/probe_types.h"
#include "daemon/model/spec.h"
#include "daemon/model/target.h"

namespace tracectl {

// How returns of calls are traced. A trampoline kills a program that unwinds through the call.
enum class Returns : uint8_t {
  automatic,   // by a trampoline if nothing can unwind, else by exits
  trampoline,  // the kernel's: a uprobe session
  exits,       // probes on the instructions by which the function exits
};
constexpr Returns last_of(Returns) { return Returns::exits; }

const char* name_of(Returns returns);
std::optional<Returns> returns_named(std::string_view name);

// Makes a setting measure the time from a hit of `from` to a hit of the setting's own pattern with
// equal keys, in any thread or process of the target.
struct Latency {
  static constexpr uint32_t kSlowest = 5, kMostSlowest = 32;

  Pattern from;
  std::vector<Expr> by;         // evaluated at both hits
  uint32_t slowest = kSlowest;  // how many of the slowest are kept individually

  bool operator==(const Latency&) const = default;
};

// The functions that are shown below the calls of a setting whose spec has `graph`.
struct GraphScope {
  std::vector<Pattern> only;      // only these functions; empty: all that are known to be reachable
  std::vector<std::string> skip;  // not these; globs as in patterns
  std::vector<Pattern> beside;    // probes that are not calls, shown if they fire within
  bool imports = false;           // also the functions of other files that they may call
  bool grow = false;              // also functions that are called by computed addresses, once seen
  std::vector<Pattern> grown = {};  // those found so far: each one function of one file, no globs

  bool operator==(const GraphScope&) const = default;
};

// One setting that a session stages: probes, processes, and actions.
struct Setting {
  Pattern pattern;
  Target target;
  Spec spec;
  Returns returns = Returns::automatic;
  std::optional<Latency> latency = {};
  GraphScope graph = {};
  GivenTypes types = {};

  bool operator==(const Setting&) const = default;
};

// Whether the returns of functions are needed.
bool follows_calls(const Setting& setting);
// Whether it shows, checks or stores tags of threads.
bool uses_tags(const Setting& setting);
// The keys in the syntax of --by.
std::string keys_text(const std::vector<Expr>& keys);

}  // namespace tracectl
