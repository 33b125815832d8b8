// SPDX-License-Identifier: BSD-2-Clause
//
// What a test build does when a step of a commit has been done. A test in the same process says it
// by AtEachStep; else the environment can ask for the end of the process:
//
//   TRACECTL_DIE_AT=STEP:NTH    SIGKILL when this step (its number) is done for the NTH time
#pragma once

#include <functional>

#include "daemon/trace/steps.h"

namespace tracectl::on_kernel {

// While it lives.
class AtEachStep {
 public:
  explicit AtEachStep(std::function<void(Step)> callback);
  ~AtEachStep();
  AtEachStep(const AtEachStep&) = delete;
  AtEachStep& operator=(const AtEachStep&) = delete;
};

}  // namespace tracectl::on_kernel
