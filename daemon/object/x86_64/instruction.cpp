// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/object/code/instruction.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "daemon/object/code/emulation.h"
#include "daemon/object/x86_64/decoder.h"

// How the kernel handles the instruction under a uprobe. Found by arming every opcode of every map
// on Linux 6.18, and by timing those it accepts and checking their effect:
//
// - It looks up one byte in one table: for a legacy instruction the first opcode byte (0f, which is
//   accepted, for all of two and three bytes), for a VEX or EVEX one the byte after the prefix,
//   although that belongs to another map. So vmovdqa loads (6f) are refused, like outs. Prefixes
//   es, cs, ss, ds and lock are refused, and with them the 10-byte nop `66 2e 0f 1f ...`, which Linux 7.2 accepts.
// - It emulates, by that same byte: 90, push (50-57, alone or after 41), call and jmp (e8 e9 eb),
//   conditional jumps (70-7f, 0f 80-8f), and the nops of 2 to 8 bytes that it uses itself (only since
//   6.17: before, it single-steps them). All else is single-stepped.
// - It ignores here, too, that the byte may belong to another map: `xchg %r8,%rax` (49 90), vpor
//   (eb), vpshufd (70), vzeroupper (77), vector stores (7f) and their neighbours are accepted and
//   then not executed, or jump. The program computes nonsense, so these are refused here.
// - Branches with an operand size prefix (66) are refused.
namespace tracectl {
namespace {

using Bytes = std::span<const uint8_t>;

// Bit N of word M: opcode byte 16 * M + N is accepted.
constexpr std::array<uint16_t, 16> kAccepted{
    0xbf3f, 0x3f3f, 0x7f7f, 0x7f7f, 0xffff, 0xffff, 0x0ff8, 0xffff,
    0xfffb, 0xfbff, 0xffff, 0xffff, 0x0fff, 0xff8f, 0x0b0f, 0xf3ec,
};

bool is_accepted(uint8_t opcode) { return (kAccepted[opcode >> 4] >> (opcode & 15)) & 1; }

bool is_legacy(const ZydisDecodedInstruction& instruction) {
  return instruction.encoding == ZYDIS_INSTRUCTION_ENCODING_LEGACY;
}

bool is_vector(const ZydisDecodedInstruction& instruction) {
  return instruction.encoding == ZYDIS_INSTRUCTION_ENCODING_VEX ||
         instruction.encoding == ZYDIS_INSTRUCTION_ENCODING_EVEX;
}

// The byte by which the kernel decides.
uint8_t kernel_opcode(const ZydisDecodedInstruction& instruction) {
  bool long_legacy = is_legacy(instruction) && instruction.opcode_map != ZYDIS_OPCODE_MAP_DEFAULT;
  return long_legacy ? 0x0f : instruction.opcode;
}

bool has_prefix(const ZydisDecodedInstruction& instruction, std::initializer_list<uint8_t> wanted) {
  auto prefixes = std::span{instruction.raw.prefixes}.first(instruction.raw.prefix_count);
  return std::ranges::any_of(prefixes, [&](const auto& prefix) {
    return std::ranges::find(wanted, prefix.value) != wanted.end();
  });
}

bool is_branch_opcode(uint8_t opcode) {
  return opcode == 0xe8 || opcode == 0xe9 || opcode == 0xeb || (opcode >= 0x70 && opcode <= 0x7f);
}

bool is_long_conditional_jump(const ZydisDecodedInstruction& instruction) {
  return is_legacy(instruction) && instruction.opcode_map == ZYDIS_OPCODE_MAP_0F &&
         (instruction.opcode & 0xf0) == 0x80;
}

bool is_emulated_branch(const ZydisDecodedInstruction& instruction) {
  return is_branch_opcode(kernel_opcode(instruction)) || is_long_conditional_jump(instruction);
}

bool is_taken_for_another(const ZydisDecodedInstruction& instruction) {
  uint8_t opcode = kernel_opcode(instruction);
  if (is_vector(instruction)) return is_branch_opcode(opcode) || opcode == 0x90;
  return opcode == 0x90 && instruction.raw.rex.B != 0;
}

// Instructions that the kernel's decoder does not know, although processors had them: AMD's
// four-operand multiplications, Intel's first mask registers.
bool is_unknown_to_kernel(const ZydisDecodedInstruction& instruction) {
  if (!is_legacy(instruction) && !is_vector(instruction)) return true;
  if (instruction.encoding != ZYDIS_INSTRUCTION_ENCODING_VEX ||
      instruction.opcode_map != ZYDIS_OPCODE_MAP_0F3A)
    return false;
  uint8_t opcode = instruction.opcode;
  return opcode == 0x3e || (opcode & 0xfe) == 0x48 || (opcode & 0xfc) == 0x5c ||
         (opcode & 0xfc) == 0x68;
}

bool is_xbegin(const ZydisDecodedInstruction& instruction) {
  return kernel_opcode(instruction) == 0xc7 && instruction.raw.modrm.mod == 3 &&
         instruction.raw.modrm.reg == 7;
}

bool is_stack_segment_load(const ZydisDecodedInstruction& instruction) {
  return is_legacy(instruction) && kernel_opcode(instruction) == 0x8e &&
         instruction.raw.modrm.reg == 2;
}

const char* refusal_of(const ZydisDecodedInstruction& instruction, Bytes code,
                       const SiteCosts& costs) {
  if (is_nop10(code) && costs.ten) return nullptr;
  if (is_unknown_to_kernel(instruction)) return "the kernel cannot decode it";
  if (has_prefix(instruction, {0xf0})) return "the kernel accepts no lock prefix";
  if (has_prefix(instruction, {0x26, 0x2e, 0x36, 0x3e}))
    return "the kernel accepts no segment prefix of es, cs, ss or ds (padding nops have one)";
  if (is_taken_for_another(instruction))
    return "the kernel would take it for another instruction and not execute it";
  if (!is_accepted(kernel_opcode(instruction)) || is_stack_segment_load(instruction))
    return "the kernel refuses this instruction";
  if (is_xbegin(instruction)) return "it begins a transaction";
  if (is_emulated_branch(instruction) && has_prefix(instruction, {0x66}))
    return "the kernel accepts no branch with an operand size prefix";
  return nullptr;
}

bool is_nop_of_the_kernel(Bytes code) {
  using namespace std::string_view_literals;
  static constexpr std::array kNops{
      "\x90"sv,
      "\x66\x90"sv,
      "\x0f\x1f\x00"sv,
      "\x0f\x1f\x40\x00"sv,
      "\x0f\x1f\x44\x00\x00"sv,
      "\x66\x0f\x1f\x44\x00\x00"sv,
      "\x0f\x1f\x80\x00\x00\x00\x00"sv,
      "\x0f\x1f\x84\x00\x00\x00\x00\x00"sv,
  };
  std::string_view text{reinterpret_cast<const char*>(code.data()), code.size()};
  return std::ranges::find(kNops, text) != kNops.end();
}

bool is_emulated_push(const ZydisDecodedInstruction& instruction, Bytes code) {
  bool push = is_legacy(instruction) && (kernel_opcode(instruction) & 0xf8) == 0x50;
  return push && (code.size() == 1 || (code.size() == 2 && code[0] == 0x41));
}

CostClass cost_of(const ZydisDecodedInstruction& instruction, Bytes code, const SiteCosts& costs) {
  if (is_nop5(code)) return costs.five;
  if (is_nop10(code) && costs.ten) return *costs.ten;
  const bool is_emulated_nop = is_nop_of_the_kernel(code) && costs.five != CostClass::slow;
  bool emulated = is_emulated_nop || kernel_opcode(instruction) == 0x90 ||
                  is_emulated_branch(instruction) || is_emulated_push(instruction, code);
  if (emulated) return CostClass::normal;
  return emulated_form(code, Standing::within, costs.emulates) ? CostClass::emulated
                                                               : CostClass::slow;
}

}  // namespace

Result<Instruction> decode_instruction(Bytes bytes, const SiteCosts& costs) {
  auto decoded = decode_shape(bytes);
  if (!decoded) return Error{Code::invalid, "these bytes are no instruction"};
  const Bytes code = bytes.first(decoded->length);
  return Instruction{decoded->length, cost_of(*decoded, code, costs),
                     refusal_of(*decoded, code, costs)};
}

bool is_site_nop(Bytes bytes) { return !bytes.empty() && bytes[0] == 0x90; }

bool is_nop5(Bytes bytes) {
  const auto decoded = decode_shape(bytes);
  return decoded && decoded->length == 5 && decoded->mnemonic == ZYDIS_MNEMONIC_NOP;
}

bool is_nop10(Bytes bytes) {
  static constexpr std::array<uint8_t, 10> kNop10{0x66, 0x2e, 0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0};
  return bytes.size() >= kNop10.size() && std::ranges::equal(bytes.first(kNop10.size()), kNop10);
}

bool is_long_nop(Bytes bytes) {
  const auto decoded = decode_shape(bytes);
  return decoded && decoded->length > 1 && decoded->mnemonic == ZYDIS_MNEMONIC_NOP;
}

bool is_header_site(Bytes bytes) {
  static constexpr std::array<uint8_t, 17> kSite{0x90, 0x66, 0x2e, 0x0f, 0x1f, 0x84, 0, 0,   0,
                                                 0,    0,    0x0f, 0x1f, 0x44, 0,    0, 0xc3};
  return bytes.size() >= kSite.size() && std::ranges::equal(bytes.first(kSite.size()), kSite);
}

bool leads_to_return(Bytes bytes) {
  constexpr int kMostNops = 8;
  for (int passed = 0; passed < kMostNops; ++passed) {
    const auto next = decode_shape(bytes);
    if (!next) return false;
    if (next->mnemonic == ZYDIS_MNEMONIC_RET) return passed > 0;
    if (next->mnemonic != ZYDIS_MNEMONIC_NOP) return false;
    bytes = bytes.subspan(next->length);
  }
  return false;
}

bool is_in_exclusive_access(Bytes, uint64_t) { return false; }

}  // namespace tracectl
