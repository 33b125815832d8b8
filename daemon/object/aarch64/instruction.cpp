// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/object/code/instruction.h"

#include <algorithm>
#include <array>

#include "daemon/object/aarch64/decoder.h"
#include "daemon/object/aarch64/encoding.h"

// How the kernel handles the instruction under a uprobe: arm_probe_decode_insn() and aarch64_insn_is_steppable() in
// arch/arm64/kernel/probes/decode-insn.c, with the masks of arch/arm64/include/asm/insn.h. Read in the source of Linux
// 6.12 to 6.18; not yet tried on a machine.
//
// - It simulates b, bl, b.cond, cbz, cbnz, tbz, tbnz, adr, adrp, br, blr and ret; nop only since 6.13 (before, it
//   single-steps it).
// - It refuses other branches (with pointer authentication), exceptions, writes of system registers, exclusive
//   accesses, loads relative to the instruction (simulated wrongly before 6.12 and the stable kernels of its time), and
//   hints, except those listed below.
// - All else is single-stepped in another place.
// - It does not know that bc.cond and the loads of vector registers from a literal are relative to the instruction: they
//   are accepted, and jump or load from somewhere near that other place. So these are refused here.
namespace tracectl {
namespace {

using Bytes = std::span<const uint8_t>;

// aarch64_insn_is_steppable_hint(): nop, xpaclri, the signing of pointers but not their authentication, bti.
constexpr std::array<uint8_t, 12> kSteppedHints{0, 7, 8, 10, 24, 25, 26, 27, 32, 34, 36, 38};

bool is_branch_with_authentication(uint32_t word) {
  return is(word, kBrAuth) || is(word, kBlrAuth) || is(word, kRetAuth) || is(word, kEretAuth);
}

bool is_refused_hint(uint32_t word) {
  return is(word, kHint) && std::ranges::find(kSteppedHints, hint_of(word)) == kSteppedHints.end();
}

bool is_refused(uint32_t word) {
  return is_branch_with_authentication(word) || is(word, kException) || is(word, kEret) ||
         is(word, kMsrImmediate) || is(word, kMsrRegister) || is(word, kMrsDaif) ||
         is_refused_hint(word);
}

bool is_run_elsewhere(uint32_t word) {
  return is(word, kBcCond) || (is(word, kLiteral) && is(word, kVector));
}

const char* refusal_of(uint32_t word) {
  if (is_run_elsewhere(word))
    return "the kernel would run it in another place, and its target is relative to its own";
  if (is(word, kLiteral)) return "the kernel accepts no load relative to the instruction";
  if (is(word, kExclusive)) return "the kernel accepts no exclusive access";
  if (is(word, kMemoryCopy))
    return "it is a third of a copy, which kernels refuse or break (memory copy instructions)";
  if (is_refused(word)) return "the kernel refuses this instruction";
  return nullptr;
}

// Not nop: it is simulated since Linux 6.13 only, and the dearer is told.
CostClass cost_of(uint32_t word) {
  const bool simulated = relative_target(word) || is(word, kAdr) || is(word, kAdrp) ||
                         is(word, kBr) || is(word, kBlr) || is(word, kRet);
  return simulated ? CostClass::normal : CostClass::slow;
}

}  // namespace

Result<Instruction> decode_instruction(Bytes bytes, const SiteCosts&) {
  const auto word = instruction_in(bytes);
  if (!word) return Error{Code::invalid, "these bytes are no instruction"};
  return Instruction{kInstructionBytes, cost_of(*word), refusal_of(*word)};
}

// The kernel turns no nop of this machine into a call.
bool is_nop5(Bytes) { return false; }
bool is_nop10(Bytes) { return false; }
bool is_long_nop(Bytes) { return false; }

bool is_site_nop(Bytes bytes) {
  const auto instruction = instruction_in(bytes);
  return instruction && is(*instruction, kNop);
}

bool is_header_site(Bytes bytes) {
  static constexpr std::array<uint8_t, 8> kSite{0x1f, 0x20, 0x03, 0xd5, 0xc0, 0x03, 0x5f, 0xd6};
  return bytes.size() >= kSite.size() && std::ranges::equal(bytes.first(kSite.size()), kSite);
}

bool leads_to_return(Bytes bytes) {
  constexpr int kMostNops = 8;
  for (int passed = 0; passed < kMostNops; ++passed) {
    const auto next = instruction_in(bytes);
    if (!next) return false;
    if (is(*next, kRet)) return passed > 0 && is_return(*next);
    if (!is(*next, kNop)) return false;
    bytes = bytes.subspan(kInstructionBytes);
  }
  return false;
}

// As the kernel searches for its own kprobes (is_probed_address_atomic); it does not for uprobes.
bool is_in_exclusive_access(Bytes function, uint64_t offset) {
  constexpr int kMostInstructions = 32;
  for (int back = 0; back < kMostInstructions && offset >= kInstructionBytes; ++back) {
    offset -= kInstructionBytes;
    const auto word =
        offset < function.size() ? instruction_in(function.subspan(offset)) : std::nullopt;
    if (!word || is_return(*word) || is(*word, kB)) return false;
    if (is(*word, kExclusive) && !is(*word, kCompareAndSwapPair)) return bits(*word, 22, 1) != 0;
  }
  return false;
}

}  // namespace tracectl
