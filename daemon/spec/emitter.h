// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bpf/abi.h"

namespace tracectl {

// An operand of an instruction: a register, an integer, or something that it loads itself.
struct Source {
  tc_source from = TC_FROM_IMMEDIATE;
  uint8_t number = 0;  // of the register or argument
  int64_t immediate = 0;

  bool is_register() const { return from == TC_FROM_REGISTER; }
  bool is_immediate() const { return from == TC_FROM_IMMEDIATE; }
  // Whether it can be the second operand.
  bool is_plain() const { return is_register() || is_immediate(); }
};

// A place further on, as the list of skips to it: they are emitted before its position is known.
using Label = std::vector<size_t>;

// Emits instructions in sequence.
class Emitter {
 public:
  void op(tc_op op, uint8_t to, const Source& a, const Source& b = {TC_FROM_REGISTER});
  // `relations` are bits of enum tc_relation.
  void skip_unless(tc_op op, uint8_t relations, const Source& a, const Source& b, Label& label);
  void skip_unless_text(tc_op op, tc_text_of of, const Source& address, uint8_t most_bytes,
                        const std::string& text, Label& label);
  void skip(Label& label);
  // Binds the label to the current position.
  void bind(const Label& label);

  const std::vector<tc_insn>& insns() const { return insns_; }
  const std::vector<std::string>& texts() const { return texts_; }

 private:
  void skip_to(Label& label, tc_insn insn);

  std::vector<tc_insn> insns_;
  std::vector<std::string> texts_;
};

}  // namespace tracectl
