// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "bpf/abi.h"
#include "daemon/spec/check.h"

namespace tracectl {

// The code of one expression at sites with the same arguments, for the machine of bpf/abi.h.
struct ExprCode {
  std::vector<tc_insn> insns;  // at most TC_MAX_INSNS; the last one returns
  std::vector<std::string>
      texts;  // `immediate` of a string comparison is an index into it; no two are equal
  ValueType type =
      ValueType::s64;       // of the returned value; string, bytes: the address, comm: nothing
  uint8_t most_bytes = 0;   // of a string; for bytes their exact number
  uint8_t most_frames = 0;  // of a stack
};

bool is_skip(uint8_t op);
bool compares_numbers(uint8_t op);
bool compares_text(uint8_t op);
bool reads_memory(const tc_insn& insn);

// Whether it can be a condition of the kind TC_TERMS.
bool is_terms(const ExprCode& code);

// The number of instructions on the longest path through the code.
unsigned cost_bound(const ExprCode& code);

}  // namespace tracectl
