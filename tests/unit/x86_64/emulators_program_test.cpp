// SPDX-License-Identifier: BSD-2-Clause
//
// What the emulator's program can write, found by following each pointer to the thread's registers through its code.
#include <asm/ptrace.h>
#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "tests/support/emulated_by_bpf.h"

namespace tracectl {
namespace {

// What a register of BPF may hold: any of these.
enum Holds : uint8_t { kNothing = 0, kContext = 1, kStack = 2, kOther = 4 };

struct State {
  std::array<uint8_t, MAX_BPF_REG> registers{};
  std::map<int, uint8_t> spilled;  // by offset in the frame

  bool join(const State& more) {
    const State before = *this;
    for (size_t i = 0; i < registers.size(); ++i) registers[i] |= more.registers[i];
    for (const auto& [offset, holds] : more.spilled) spilled[offset] |= holds;
    return registers != before.registers || spilled != before.spilled;
  }
};

class Writes {
 public:
  explicit Writes(std::vector<bpf_insn> code) : code_(std::move(code)), states_(code_.size()) {
    State begin;
    begin.registers[BPF_REG_1] = kContext;
    begin.registers[BPF_REG_10] = kStack;
    arrive(0, begin);
    while (!open_.empty()) {
      const size_t at = *open_.begin();
      open_.erase(open_.begin());
      step(at);
    }
  }

  std::set<int> of_context;         // offsets of the words that are written
  std::set<int> helpers;            // that are called
  std::vector<std::string> others;  // all other writes, and what cannot be followed

 private:
  void arrive(size_t at, const State& state) {
    if (at >= code_.size()) return doubt(at, "leaves the program");
    const bool is_new = reached_.insert(at).second;
    if (states_[at].join(state) || is_new) open_.insert(at);
  }
  void doubt(size_t at, const char* what) { others.push_back(std::to_string(at) + ": " + what); }

  void step(size_t at) {
    State state = states_[at];
    const bpf_insn& one = code_[at];
    switch (BPF_CLASS(one.code)) {
      case BPF_ALU: state.registers[one.dst_reg] = kOther; break;
      case BPF_ALU64: calculate(at, one, state); break;
      case BPF_LD: state.registers[one.dst_reg] = kOther; return arrive(at + 2, state);
      case BPF_LDX: load(one, state); break;
      case BPF_ST:
      case BPF_STX: store(at, one, state); break;
      default: return jump(at, one, state);
    }
    arrive(at + 1, state);
  }

  void calculate(size_t at, const bpf_insn& one, State& state) {
    uint8_t& to = state.registers[one.dst_reg];
    if (BPF_OP(one.code) == BPF_MOV) {
      to = BPF_SRC(one.code) == BPF_X ? state.registers[one.src_reg] : uint8_t{kOther};
    } else {
      if (to & kContext) doubt(at, "calculates with the pointer to the registers");
      if (!(to & kStack)) to = kOther;
    }
  }
  static void load(const bpf_insn& one, State& state) {
    const auto spilled = state.spilled.find(one.off);
    const bool is_known = one.src_reg == BPF_REG_10 && spilled != state.spilled.end();
    state.registers[one.dst_reg] = is_known ? spilled->second : uint8_t{kOther};
  }
  void store(size_t at, const bpf_insn& one, State& state) {
    const uint8_t to = state.registers[one.dst_reg];
    if (to == kContext && one.code == (BPF_STX | BPF_DW | BPF_MEM))
      of_context.insert(one.off);
    else if (to != kStack)
      doubt(at, "writes elsewhere");
    if (to == kStack && one.dst_reg == BPF_REG_10)
      state.spilled[one.off] = BPF_CLASS(one.code) == BPF_STX && BPF_SIZE(one.code) == BPF_DW
                                   ? state.registers[one.src_reg]
                                   : uint8_t{kOther};
  }
  void jump(size_t at, const bpf_insn& one, State& state) {
    const int operation = BPF_OP(one.code);
    if (operation == BPF_EXIT) return;
    if (operation == BPF_CALL) {
      if (one.src_reg != 0) return doubt(at, "calls what is no helper");
      helpers.insert(one.imm);
      for (int reg = BPF_REG_0; reg <= BPF_REG_5; ++reg)
        state.registers[static_cast<size_t>(reg)] = kOther;
      return arrive(at + 1, state);
    }
    arrive(at + 1 + static_cast<size_t>(static_cast<ptrdiff_t>(one.off)), state);
    if (operation != BPF_JA) arrive(at + 1, state);
  }

  std::vector<bpf_insn> code_;
  std::vector<State> states_;
  std::set<size_t> reached_, open_;
};

std::set<int> registers_of_programs() {
  return {offsetof(pt_regs, r15), offsetof(pt_regs, r14), offsetof(pt_regs, r13),
          offsetof(pt_regs, r12), offsetof(pt_regs, rbp), offsetof(pt_regs, rbx),
          offsetof(pt_regs, r11), offsetof(pt_regs, r10), offsetof(pt_regs, r9),
          offsetof(pt_regs, r8),  offsetof(pt_regs, rax), offsetof(pt_regs, rcx),
          offsetof(pt_regs, rdx), offsetof(pt_regs, rsi), offsetof(pt_regs, rdi),
          offsetof(pt_regs, rsp), offsetof(pt_regs, rip), offsetof(pt_regs, eflags)};
}

TEST(EmulatorsProgram, WritesOnlyGeneralRegistersInstructionPointerAndFlags) {
  const Writes writes(emulators_program());
  EXPECT_EQ(writes.of_context, registers_of_programs());
  EXPECT_TRUE(writes.others.empty()) << writes.others.front();
}

// None of these writes memory of a process.
TEST(EmulatorsProgram, CallsOnlyHelpersThatRead) {
  const Writes writes(emulators_program());
  EXPECT_EQ(
      writes.helpers,
      (std::set<int>{BPF_FUNC_map_lookup_elem, BPF_FUNC_probe_read_user, BPF_FUNC_probe_read_kernel,
                     BPF_FUNC_get_current_task_btf, BPF_FUNC_get_attach_cookie}));
}

}  // namespace
}  // namespace tracectl
