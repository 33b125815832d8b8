// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <string>
#include <vector>

namespace tracectl {

// One trait of this kernel, found by trying it on a child of our own.
struct Finding {
  enum class Verdict { yes, no, unknown };

  std::string name;
  Verdict verdict = Verdict::unknown;
  std::string found;  // what was tried and seen
  std::string means;  // for the user
};

// As uname(2) has it.
std::string kernel_release();

// Takes up to some seconds; arms only in children it starts itself, and leaves nothing.
std::vector<Finding> examine_kernel();

}  // namespace tracectl
