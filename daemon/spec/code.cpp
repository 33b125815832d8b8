// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/spec/code.h"

#include <algorithm>

namespace tracectl {

bool is_skip(uint8_t op) { return op >= TC_OP_SKIP && op < TC_OPS; }

bool compares_numbers(uint8_t op) {
  return op >= TC_OP_SKIP_UNLESS_S && op <= TC_OP_SKIP_UNLESS_SU;
}

bool compares_text(uint8_t op) {
  return op >= TC_OP_SKIP_UNLESS_TEXT_EQ && op <= TC_OP_SKIP_UNLESS_TEXT_UNLIKE;
}

bool reads_memory(const tc_insn& insn) {
  return (insn.op >= TC_OP_READ_U8 && insn.op <= TC_OP_READ_U64) ||
         (compares_text(insn.op) && insn.b == TC_TEXT_USER);
}

namespace {

bool is_at_hand(uint8_t from) {
  return from == TC_FROM_ARG || from == TC_FROM_ARG_SIGNED || from == TC_FROM_PID ||
         from == TC_FROM_TID;
}

bool is_term(const tc_insn& insn) {
  if (insn.op == TC_OP_RETURN) return insn.a_from == TC_FROM_IMMEDIATE;
  return compares_numbers(insn.op) && is_at_hand(insn.a_from) && insn.b_from == TC_FROM_IMMEDIATE;
}

}  // namespace

bool is_terms(const ExprCode& code) {
  return code.insns.size() <= TC_MAX_TERM_INSNS &&
         std::all_of(code.insns.begin(), code.insns.end(), is_term);
}

// Goes backwards: every skip is forward, so the cost at its target is known.
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
