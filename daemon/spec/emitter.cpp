// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/spec/emitter.h"

#include <algorithm>

namespace tracectl {
namespace {

tc_insn insn_of(tc_op op, uint8_t to, const Source& a, const Source& b) {
  return {.op = static_cast<uint8_t>(op),
          .to = to,
          .a_from = static_cast<uint8_t>(a.from),
          .a = a.number,
          .b_from = static_cast<uint8_t>(b.from),
          .b = b.number,
          .skip = 0,
          .immediate = b.is_immediate() ? b.immediate : a.immediate};
}

}  // namespace

void Emitter::op(tc_op op, uint8_t to, const Source& a, const Source& b) {
  insns_.push_back(insn_of(op, to, a, b));
}

void Emitter::skip_unless(tc_op op, uint8_t relations, const Source& a, const Source& b,
                          Label& label) {
  skip_to(label, insn_of(op, relations, a, b));
}

void Emitter::skip_unless_text(tc_op op, tc_text_of of, const Source& address, uint8_t most_bytes,
                               const std::string& text, Label& label) {
  auto known = std::find(texts_.begin(), texts_.end(), text);
  if (known == texts_.end()) known = texts_.insert(known, text);
  tc_insn insn = insn_of(op, most_bytes, address, {TC_FROM_REGISTER, static_cast<uint8_t>(of)});
  insn.immediate = known - texts_.begin();
  skip_to(label, insn);
}

void Emitter::skip(Label& label) {
  skip_to(label, insn_of(TC_OP_SKIP, 0, {TC_FROM_REGISTER}, {TC_FROM_REGISTER}));
}

void Emitter::skip_to(Label& label, tc_insn insn) {
  label.push_back(insns_.size());
  insns_.push_back(insn);
}

void Emitter::bind(const Label& label) {
  for (size_t at : label) insns_[at].skip = static_cast<uint16_t>(insns_.size() - at - 1);
}

}  // namespace tracectl
