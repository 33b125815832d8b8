// SPDX-License-Identifier: BSD-2-Clause
//
// The steps of a commit, by their numbers in the Erlang run-time's sequence (switching/staging.h). Steps
// 4, 6 and 10 are waits that are not needed here.
#pragma once

namespace tracectl {

enum class Step {
  lock = 1,
  allocate = 2,
  stage = 3,
  arm = 5,  // after each link
  switch_ = 7,
  wait = 8,
  disarm = 9,  // after each link
  copy_back = 11,
  free = 12,
  answer = 13,
};

// Called when a step has been done. Only a test build has something to do then: it can end the
// process there, or the one that a commit is for.
#ifdef TRACECTL_TEST_BUILD
void reached(Step step);
#else
inline void reached(Step) {}
#endif

}  // namespace tracectl
