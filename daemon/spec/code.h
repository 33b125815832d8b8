// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "bpf/abi.h"
#include "daemon/spec/check.h"

namespace tracectl {

// What the machine of bpf/abi.h runs for one expression at the sites with the same arguments.
struct ExprCode {
  std::vector<tc_insn> insns;  // at most TC_MAX_INSNS; the last one returns
  std::vector<std::string>
      texts;  // what `immediate` of a comparison of strings counts; no two alike
  ValueType type =
      ValueType::s64;       // of what is returned; string, bytes: the address, comm: nothing
  uint8_t most_bytes = 0;   // of a string; of bytes their number
  uint8_t most_frames = 0;  // of a stack
};

bool is_skip(uint8_t op);
bool compares_numbers(uint8_t op);
bool compares_text(uint8_t op);
bool reads_memory(const tc_insn& insn);

// Whether it can be a condition of the kind TC_TERMS.
bool is_terms(const ExprCode& code);

// The instructions on the longest way through the code.
unsigned cost_bound(const ExprCode& code);

}  // namespace tracectl
