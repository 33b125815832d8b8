// SPDX-License-Identifier: BSD-2-Clause
//
// Lets test builds act after a step of a commit: a test in the same process uses AtEachStep; otherwise the
// environment can end the process:
//
//   TRACECTL_DIE_AT=STEP:NTH    SIGKILL when this step (its number) is done for the NTH time
#pragma once

#include <functional>

#include "daemon/switching/steps.h"

namespace tracectl::on_kernel {

// While it exists, `callback` runs after each step.
class AtEachStep {
 public:
  explicit AtEachStep(std::function<void(Step)> callback);
  ~AtEachStep();
  AtEachStep(const AtEachStep&) = delete;
  AtEachStep& operator=(const AtEachStep&) = delete;
};

}  // namespace tracectl::on_kernel
