// SPDX-License-Identifier: BSD-2-Clause
//
// The number of instructions that the running kernel's verifier processes for each BPF program. And its
// message, if it refuses one.
#include "tests/support/verified.h"

#include <unistd.h>

#include <cstdio>

using namespace tracectl;

int main() {
  if (::geteuid() != 0) {
    std::printf("verifier: loading programs needs root\n");
    return 0;
  }
  std::printf("%-24s%16s\n", "program", "instructions");
  for (const auto& one : verify_programs()) {
    std::printf(
        "%-24s%16llu  %s%s\n", one.program.c_str(),
        static_cast<unsigned long long>(one.instructions),
        one.instructions <= kMostVerifiedInstructions ? "<= 100000  met" : "<= 100000  MISSED",
        one.refused.empty() ? "" : "  refused");
    if (!one.refused.empty()) std::printf("%s\n", one.refused.c_str());
  }
}
