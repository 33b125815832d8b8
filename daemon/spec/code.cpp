// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/spec/code.h"

#include <algorithm>

namespace tracectl {

bool is_skip(uint8_t op) { return op >= TC_OP_SKIP && op < TC_OPS; }

bool compares_text(uint8_t op) {
  return op >= TC_OP_SKIP_UNLESS_TEXT_EQ && op <= TC_OP_SKIP_UNLESS_TEXT_UNLIKE;
}

// From the end backwards: every skip is forward, so what it leads to is known.
unsigned cost_bound(const ExprCode& code) {
  std::vector<unsigned> costs(code.insns.size() + 1, 0);
  for (size_t i = code.insns.size(); i-- > 0;) {
    const tc_insn& insn = code.insns[i];
    unsigned further = insn.op == TC_OP_RETURN || insn.op == TC_OP_SKIP ? 0 : costs[i + 1];
    if (is_skip(insn.op))
      further = std::max(further, costs[std::min(i + 1 + insn.skip, code.insns.size())]);
    costs[i] = 1 + further;
  }
  return costs[0];
}

}  // namespace tracectl
