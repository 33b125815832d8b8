// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <string>
#include <vector>

namespace tracectl {

// One property of this kernel, found by trying it on a child of our own.
struct Finding {
  enum class Verdict { yes, no, unknown };

  std::string name;
  Verdict verdict = Verdict::unknown;
  std::string found;  // what was tried and seen
  std::string means;  // for the user
};

// From uname(2).
std::string kernel_release();

// Takes up to some seconds. Arms probes only in children that it starts, and removes all of them.
std::vector<Finding> examine_kernel();

}  // namespace tracectl
