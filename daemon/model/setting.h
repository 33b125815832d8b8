// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include "daemon/model/pattern.h"
#include "daemon/model/spec.h"
#include "daemon/model/target.h"

namespace tracectl {

// What a session stages: these probes, in these processes, shall do this.
struct Setting {
  Pattern pattern;
  Target target;
  Spec spec;

  bool operator==(const Setting&) const = default;
};

}  // namespace tracectl
