// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/kernel/trial_code.h"

#include <asm/ptrace.h>

#include <cstddef>

// tracectl_trial_red_zone and tracectl_trial_nop10_red_zone keep a value below the stack pointer across the nop and
// return whether it has changed. Only the kernel can change it in between.
asm(".pushsection .text\n"
    ".balign 16\n"
    ".type tracectl_trial_nop, @function\n"
    "tracectl_trial_nop: nop\n xor %eax, %eax\n ret\n"
    ".size tracectl_trial_nop, . - tracectl_trial_nop\n"
    ".balign 16\n"
    ".type tracectl_trial_nop5, @function\n"
    "tracectl_trial_nop5: .byte 0x0f, 0x1f, 0x44, 0x00, 0x00\n xor %eax, %eax\n ret\n"
    ".size tracectl_trial_nop5, . - tracectl_trial_nop5\n"
    ".balign 16\n"
    ".type tracectl_trial_stepped, @function\n"
    "tracectl_trial_stepped: xor %eax, %eax\n ret\n"
    ".size tracectl_trial_stepped, . - tracectl_trial_stepped\n"
    ".balign 16\n"
    ".type tracectl_trial_red_zone, @function\n"
    "tracectl_trial_red_zone:\n"
    "  movq $0x5aa55aa5, -8(%rsp)\n"
    ".globl tracectl_trial_red_zone_site\n"
    "tracectl_trial_red_zone_site: .byte 0x0f, 0x1f, 0x44, 0x00, 0x00\n"
    "  xor %eax, %eax\n"
    "  cmpq $0x5aa55aa5, -8(%rsp)\n"
    "  setne %al\n"
    "  ret\n"
    ".size tracectl_trial_red_zone, . - tracectl_trial_red_zone\n"
    ".balign 32\n"  // a nop across two pages becomes no call
    ".type tracectl_trial_nop10, @function\n"
    "tracectl_trial_nop10:\n"
    "  .byte 0x66, 0x2e, 0x0f, 0x1f, 0x84, 0x00, 0x00, 0x00, 0x00, 0x00\n"
    "  xor %eax, %eax\n ret\n"
    ".size tracectl_trial_nop10, . - tracectl_trial_nop10\n"
    ".balign 32\n"
    ".type tracectl_trial_nop10_red_zone, @function\n"
    "tracectl_trial_nop10_red_zone:\n"
    "  movq $0x5aa55aa5, -8(%rsp)\n"
    ".globl tracectl_trial_nop10_red_zone_site\n"
    "tracectl_trial_nop10_red_zone_site:\n"
    "  .byte 0x66, 0x2e, 0x0f, 0x1f, 0x84, 0x00, 0x00, 0x00, 0x00, 0x00\n"
    "  xor %eax, %eax\n"
    "  cmpq $0x5aa55aa5, -8(%rsp)\n"
    "  setne %al\n"
    "  ret\n"
    ".size tracectl_trial_nop10_red_zone, . - tracectl_trial_nop10_red_zone\n"
    ".balign 16\n"
    ".type tracectl_trial_unsupported, @function\n"
    "tracectl_trial_unsupported: lock orl $0, (%rsp)\n xor %eax, %eax\n ret\n"
    ".size tracectl_trial_unsupported, . - tracectl_trial_unsupported\n"
    ".balign 16\n"
    ".type tracectl_trial_emulated, @function\n"
    "tracectl_trial_emulated:\n"
    "  mov $5, %eax\n"
    ".globl tracectl_trial_emulated_site, tracectl_trial_emulated_exit\n"
    "tracectl_trial_emulated_site: cmp $5, %eax\n"
    "  setne %al\n"
    "  movzbl %al, %eax\n"
    "tracectl_trial_emulated_exit: ret\n"
    ".size tracectl_trial_emulated, . - tracectl_trial_emulated\n"
    ".balign 16\n"
    ".type tracectl_trial_loads, @function\n"
    "tracectl_trial_loads:\n"
    "  mov tracectl_trial_word(%rip), %rdx\n"
    "  mov (%rdx), %r8\n"  // brings the memory: of absent memory nothing is emulated
    ".globl tracectl_trial_load8, tracectl_trial_load4, tracectl_trial_load2\n"
    "tracectl_trial_load8: mov (%rdx), %rdi\n"
    "tracectl_trial_load4: mov (%rdx), %ecx\n"
    "tracectl_trial_load2: movzwl (%rdx), %esi\n"
    "  movzbl (%rdx), %r8d\n"
    "  xor %eax, %eax\n"
    ".irp byte, 1, 2, 3, 4, 5, 6, 7\n"
    "  movzbl \\byte(%rdx), %r9d\n"
    "  xor %r8d, %r9d\n"
    "  or %r9d, %eax\n"
    ".endr\n"
    "  test %eax, %eax\n"
    "  setne %al\n"
    "  movzbl %al, %eax\n"
    "  shl $16, %eax\n"
    "  inc %rdi\n"  // 1 of zeros, 0 of ones
    "  inc %ecx\n"
    "  inc %si\n"
    "  or %rcx, %rdi\n"
    "  or %rsi, %rdi\n"
    "  shr $1, %rdi\n"
    "  setne %al\n"
    "  ret\n"
    ".size tracectl_trial_loads, . - tracectl_trial_loads\n"
    ".balign 16\n"
    ".type tracectl_trial_system_call, @function\n"
    "tracectl_trial_system_call: mov $39, %eax\n syscall\n xor %eax, %eax\n ret\n"  // getpid
    ".size tracectl_trial_system_call, . - tracectl_trial_system_call\n"
    ".popsection\n");
extern "C" {
uint64_t tracectl_trial_nop();
uint64_t tracectl_trial_nop5();
uint64_t tracectl_trial_stepped();
uint64_t tracectl_trial_red_zone();
uint64_t tracectl_trial_nop10();
uint64_t tracectl_trial_nop10_red_zone();
uint64_t tracectl_trial_unsupported();
uint64_t tracectl_trial_emulated();
uint64_t tracectl_trial_loads();
uint64_t tracectl_trial_system_call();
extern const char tracectl_trial_red_zone_site[], tracectl_trial_nop10_red_zone_site[];
extern const char tracectl_trial_emulated_site[], tracectl_trial_emulated_exit[];
extern const char tracectl_trial_load8[], tracectl_trial_load4[], tracectl_trial_load2[];
const void* tracectl_trial_word = nullptr;
}

namespace tracectl {
namespace {

constexpr int kNopToReturn = 3;

// `to_exit`: bytes from the site to the instruction that returns.
TrialCode that_begins_with_site(uint64_t (*function)(), size_t to_exit = 0) {
  const auto* site = reinterpret_cast<const char*>(function);
  return {function, site, to_exit ? site + to_exit : nullptr};
}

}  // namespace

TrialCode code_of(TrialFunction function) {
  switch (function) {
    case TrialFunction::nop: return that_begins_with_site(tracectl_trial_nop, kNopToReturn);
    case TrialFunction::nop5: return that_begins_with_site(tracectl_trial_nop5, 7);
    case TrialFunction::stepped: return that_begins_with_site(tracectl_trial_stepped, 2);
    case TrialFunction::red_zone: return {tracectl_trial_red_zone, tracectl_trial_red_zone_site};
    case TrialFunction::nop10: return that_begins_with_site(tracectl_trial_nop10);
    case TrialFunction::nop10_red_zone:
      return {tracectl_trial_nop10_red_zone, tracectl_trial_nop10_red_zone_site};
    case TrialFunction::unsupported: return that_begins_with_site(tracectl_trial_unsupported);
    case TrialFunction::emulated:
      return {tracectl_trial_emulated, tracectl_trial_emulated_site, tracectl_trial_emulated_exit};
    case TrialFunction::loads: return {tracectl_trial_loads, tracectl_trial_load8};
    case TrialFunction::system_call: return that_begins_with_site(tracectl_trial_system_call);
  }
  return {};
}

std::array<const void*, 3> trial_loads() {
  return {tracectl_trial_load8, tracectl_trial_load4, tracectl_trial_load2};
}

void set_trial_word(const void* word) { tracectl_trial_word = word; }

TrialRegisters trial_registers() {
  return {offsetof(pt_regs, rax), offsetof(pt_regs, rip), kNopToReturn};
}

}  // namespace tracectl
