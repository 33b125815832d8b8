// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

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

// What a session stages: these probes, in these processes, shall do this.
struct Setting {
  Pattern pattern;
  Target target;
  Spec spec;
  Returns returns = Returns::automatic;

  bool operator==(const Setting&) const = default;
};

}  // namespace tracectl
