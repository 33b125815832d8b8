// build: -O2 -g -fcf-protection=none
// SPDX-License-Identifier: BSD-2-Clause
//
// emulated CALLS [signals]     calls each of the functions CALLS times; with "signals", a timer interrupts it meanwhile
//
// Functions that begin with an instruction which kernels single-step, and which the daemon may emulate. Prints the number
// of calls of each, how many returned something wrong, the sum of the argument of em_subtract, the faults of those that
// read a bad address (not counted as calls), and the signals.
#define _GNU_SOURCE
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <ucontext.h>

#include "stdin_protocol.h"

#define FUNCTION(NAME) ".globl " #NAME "\n.type " #NAME ", @function\n.balign 16\n" #NAME ":\n"
#define END(NAME) ".size " #NAME ", . - " #NAME "\n"

__asm__(
    ".text\n" FUNCTION(em_compare) "cmp $5, %rdi\nmov $0, %eax\nsetg %al\nret\n" END(em_compare)
        FUNCTION(em_flags) "cmp %rsi, %rdi\npushfq\npop %rax\nand $0x8d5, %eax\nret\n" END(em_flags)
            FUNCTION(em_xor) "xor %eax, %eax\nsete %al\nadd %rdi, %rax\nret\n" END(em_xor)
                FUNCTION(em_lea) "lea 8(%rdi,%rsi,4), %rax\nret\n" END(em_lea)
                    FUNCTION(em_subtract) "sub $1, %rdi\nsbb %rax, %rax\nret\n" END(em_subtract)
                        FUNCTION(em_move) "mov %rdi, %rax\nret\n" END(em_move) FUNCTION(
                            em_endbr) "endbr64\nmov %rdi, %rax\nret\n" END(em_endbr)
                            FUNCTION(em_byte) "movzbl (%rdi), %eax\nret\n" END(em_byte) FUNCTION(
                                em_blocks) "mov 8(%rdi), %rax\nret\n" END(em_blocks)
                                FUNCTION(em_bstack) "mov 8(%rsp), %rax\nret\n" END(em_bstack)
                                    FUNCTION(em_global) "movzbl em_value(%rip), %eax\nret\n" END(
                                        em_global)
    // Exits by a jump through memory.
    FUNCTION(em_bounce) "lea 1(%rdi), %rdi\njmp *landing_at(%rip)\n" END(em_bounce)
        FUNCTION(landing) "mov %rdi, %rax\nret\n" END(landing)
    // Expect: slow, and not moved. For another tracer that wants its returns the kernel writes to where the stack pointer is.
    FUNCTION(em_below) "sub $24, %rsp\nadc $1, %rdi\nmov %rdi, %rax\nadd $24, %rsp\nret\n" END(
        em_below) FUNCTION(em_constant) "mov $0x12345678, %eax\nrepz ret\n" END(em_constant));

uint64_t em_compare(uint64_t a);
uint64_t em_flags(uint64_t a, uint64_t b);
uint64_t em_xor(uint64_t a);
uint64_t em_lea(uint64_t a, uint64_t b);
uint64_t em_subtract(uint64_t a);
uint64_t em_move(uint64_t a);
uint64_t em_endbr(uint64_t a);
uint64_t em_byte(const uint8_t* at);
uint64_t em_blocks(const uint64_t* at);
uint64_t em_bstack(int, int, int, int, int, int, uint64_t a);
uint64_t em_global(void);
uint64_t em_bounce(uint64_t a);
uint64_t landing(uint64_t a);
uint64_t em_constant(void);
uint64_t em_below(uint64_t a);

__attribute__((used)) uint8_t em_value;
__attribute__((used)) uint64_t (*landing_at)(uint64_t) = landing;
static uint64_t sum;

static uint64_t flags_of(uint64_t a, uint64_t b) {
  uint64_t flags;
  __asm__ volatile("cmp %2, %1\npushfq\npop %0" : "=r"(flags) : "r"(a), "r"(b) : "cc", "memory");
  return flags & 0x8d5;
}

static volatile sig_atomic_t signals;
static void count_signal(int number) {
  (void)number;
  ++signals;
}

static sigjmp_buf back;
static volatile sig_atomic_t faults;
static void leave_fault(int number, siginfo_t* info, void* context) {
  (void)number;
  const ucontext_t* thread = context;
  if (!info->si_addr && thread->uc_mcontext.gregs[REG_RIP] == (greg_t)em_byte) ++faults;
  siglongjmp(back, 1);
}

static void fault_once(void) {
  if (sigsetjmp(back, 1) == 0) em_byte(NULL);
}

static uint64_t random_number(void) {
  static uint64_t state = 88172645463325252;
  state ^= state << 13;
  state ^= state >> 7;
  return state ^= state << 17;
}

static unsigned wrong_of(uint64_t a, uint64_t b, uint8_t* page) {
  unsigned wrong = em_compare(a) != ((int64_t)a > 5);
  wrong += em_flags(a, b) != flags_of(a, b);
  wrong += em_xor(a) != a + 1;
  wrong += em_lea(a, b) != a + 4 * b + 8;
  wrong += em_subtract(a) != (a < 1 ? ~UINT64_C(0) : 0);
  sum += a;
  wrong += em_move(a) != a;
  wrong += em_endbr(a) != a;
  wrong += em_byte(page) != 0;
  static const uint64_t blocks[] = {1, 0x123456789abcdef0};
  wrong += em_blocks(blocks) != blocks[1];
  em_value = (uint8_t)a;
  wrong += em_global() != (uint8_t)a;
  wrong += em_bounce(a) != a + 1;
  wrong += em_bstack(0, 0, 0, 0, 0, 0, a) != a;
  wrong += em_constant() != 0x12345678;
  wrong += em_below(a) != a + 1;
  return wrong;
}

int main(int argc, char** argv) {
  const uint64_t calls = argc > 1 ? strtoull(argv[1], NULL, 10) : 1000;
  uint8_t* page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  const struct sigaction on_fault = {.sa_sigaction = leave_fault, .sa_flags = SA_SIGINFO};
  sigaction(SIGSEGV, &on_fault, NULL);
  signal(SIGALRM, count_signal);
  ready_and_wait_for_go();
  const struct itimerval often = {{0, 200}, {0, 200}}, never = {{0, 0}, {0, 0}};
  if (argc > 2) setitimer(ITIMER_REAL, &often, NULL);
  uint64_t wrong = 0;
  for (uint64_t n = 0; n < calls; ++n) {
    if (n % 16 == 0) madvise(page, 4096, MADV_DONTNEED);  // the next read waits for memory
    const uint64_t a = n % 3 ? random_number() : n % 12;
    wrong += wrong_of(a, n % 2 ? random_number() : a, page);
  }
  for (int i = 0; i < 10; ++i) fault_once();
  setitimer(ITIMER_REAL, &never, NULL);
  printf("done\n{\"calls\":%llu,\"wrong\":%llu,\"sum\":%llu,\"faults\":%d,\"signals\":%d}\n",
         (unsigned long long)calls, (unsigned long long)wrong, (unsigned long long)sum, (int)faults,
         (int)signals);
  wait_for_exit();
}
