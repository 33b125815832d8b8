// SPDX-License-Identifier: BSD-2-Clause
#define TRACECTL_TEST_BUILD  // for what such a build calls
#include "tests/support/steps.h"

#include <signal.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <utility>

namespace tracectl {
namespace {

std::function<void(Step)> at_each_step;

struct Death {
  int step = 0;  // no step has this number
  int times_left = 0;
};

Death asked_for() {
  Death death;
  const char* text = std::getenv("TRACECTL_DIE_AT");
  if (text && std::sscanf(text, "%d:%d", &death.step, &death.times_left) != 2) std::abort();
  return death;
}

}  // namespace

void reached(Step step) {
  if (at_each_step) return at_each_step(step);
  static Death death = asked_for();
  if (static_cast<int>(step) == death.step && --death.times_left == 0) ::kill(::getpid(), SIGKILL);
}

namespace on_kernel {

AtEachStep::AtEachStep(std::function<void(Step)> callback) { at_each_step = std::move(callback); }
AtEachStep::~AtEachStep() { at_each_step = nullptr; }

}  // namespace on_kernel
}  // namespace tracectl
