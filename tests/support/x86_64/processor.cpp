// SPDX-License-Identifier: BSD-2-Clause
#include "tests/support/processor.h"

#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <stdexcept>

#include "bpf/emulate.h"

namespace tracectl {
namespace {

constexpr size_t kCodeBytes = 4096, kScratchBytes = 64 << 10;
constexpr size_t kStackAt = kScratchBytes / 2;  // in the scratch memory
constexpr uint64_t kAlwaysSet = 0x202;  // of the flags: interrupts, and a bit that is always 1

// What the code reads and writes, behind it.
struct Exchange {
  tc_thread_state before, after;
  uint64_t stack;  // of the caller
};

class Assembler {
 public:
  explicit Assembler(uint8_t* start) : start_(start), at_(start) {}

  void bytes(std::initializer_list<int> code) {
    for (const int byte : code) *at_++ = static_cast<uint8_t>(byte);
  }
  void bytes(std::span<const uint8_t> code) { at_ = std::copy(code.begin(), code.end(), at_); }
  void load(unsigned reg, size_t offset) { move(0x8b, reg, offset); }
  void store(unsigned reg, size_t offset) { move(0x89, reg, offset); }
  void push(size_t offset) { at_memory({0xff, 0x35}, offset); }
  void pop(size_t offset) { at_memory({0x8f, 0x05}, offset); }
  uint64_t here() const { return reinterpret_cast<uintptr_t>(at_); }

 private:
  void move(int opcode, unsigned reg, size_t offset) {
    at_memory({reg >= 8 ? 0x4c : 0x48, opcode, static_cast<int>((reg & 7) << 3 | 5)}, offset);
  }
  // Relative to the instruction pointer, with the offset in the Exchange.
  void at_memory(std::initializer_list<int> code, size_t offset) {
    bytes(code);
    const auto distance = static_cast<int32_t>(start_ + kCodeBytes + offset - (at_ + 4));
    std::memcpy(at_, &distance, sizeof(distance));
    at_ += sizeof(distance);
  }

  uint8_t* start_;
  uint8_t* at_;
};

size_t offset_of_register(size_t state, unsigned number) {
  return state + offsetof(tc_thread_state, general) + number * sizeof(uint64_t);
}

constexpr std::array<unsigned, 16> kStackLast{0, 1, 2, 3, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 4};

void begin(Assembler& code) {
  constexpr size_t kBefore = offsetof(Exchange, before);
  code.bytes({0x53, 0x55, 0x41, 0x54, 0x41, 0x55, 0x41, 0x56, 0x41, 0x57, 0x9c});
  code.store(TC_STACK_POINTER, offsetof(Exchange, stack));
  code.push(kBefore + offsetof(tc_thread_state, flags));
  code.bytes({0x9d});  // popfq
  for (const unsigned number : kStackLast) code.load(number, offset_of_register(kBefore, number));
}

void finish(Assembler& code) {
  constexpr size_t kAfter = offsetof(Exchange, after);
  for (unsigned number = 0; number < 16; ++number)
    code.store(number, offset_of_register(kAfter, number));
  code.load(TC_STACK_POINTER, offsetof(Exchange, stack));
  code.bytes({0x9c});  // pushfq
  code.pop(kAfter + offsetof(tc_thread_state, flags));
  code.bytes({0x9d, 0x41, 0x5f, 0x41, 0x5e, 0x41, 0x5d, 0x41, 0x5c, 0x5d, 0x5b, 0xc3});
}

uint64_t random_value(std::mt19937_64& random) {
  static constexpr std::array<uint64_t, 12> kLimits{
      0, 1, 0x7f, 0x80, 0xff, 0x7fff, 0x8000, 0x7fffffff, 0x80000000, 0xffffffff, INT64_MAX, ~0ULL};
  const uint64_t value = random();
  if (value & 1) return random();
  const uint64_t near = kLimits[(value >> 8) % kLimits.size()] + (value >> 32) % 3 - 1;
  return value & 2 ? near : ~near;
}

}  // namespace

Processor::Processor(std::span<const uint8_t> code) {
  auto memory = Mapping::map(-1, 0, kCodeBytes * 2 + kScratchBytes,
                             PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS);
  if (!memory) throw std::runtime_error("no memory for code");
  memory_ = std::move(*memory);
  Assembler into(static_cast<uint8_t*>(memory_.data()));
  begin(into);
  site_ = into.here();
  into.bytes(code);
  next_ = into.here();
  finish(into);
}

std::span<uint8_t> Processor::scratch() const {
  return {static_cast<uint8_t*>(memory_.data()) + 2 * kCodeBytes, kScratchBytes};
}

tc_thread_state Processor::run(const tc_thread_state& before) const {
  auto* exchange = reinterpret_cast<Exchange*>(static_cast<uint8_t*>(memory_.data()) + kCodeBytes);
  exchange->before = before;
  reinterpret_cast<void (*)()>(memory_.data())();
  exchange->after.ip = next_;
  return exchange->after;
}

emulated_state random_state(std::mt19937_64& random, const tc_instruction& form,
                            const Processor& processor) {
  emulated_state state{};
  for (auto& value : state.thread.general) value = random_value(random);
  const auto scratch = processor.scratch();
  const auto start = reinterpret_cast<uintptr_t>(scratch.data());
  state.thread.general[TC_STACK_POINTER] = start + kStackAt + random() % 256 * 8;
  state.thread.ip = processor.site();
  state.thread.flags = kAlwaysSet | (random() & TC_ARITHMETIC_FLAGS);
  if (form.operation == TC_DO_JUMP && form.right == TC_OPERAND_REGISTER)
    state.thread.general[form.right_register] = processor.next();
  if (!reads_memory(&form)) return state;
  if (form.base < TC_INSTRUCTION_POINTER && form.base != TC_STACK_POINTER) {
    if (form.index != TC_NO_REGISTER) state.thread.general[form.index] = random() % 64;
    const uint64_t wanted = start + random() % (kStackAt / 2);
    state.thread.general[form.base] += wanted - memory_address(&form, &state.thread);
  }
  const bool is_branch = form.operation == TC_DO_RETURN || form.operation == TC_DO_JUMP;
  state.memory = is_branch ? processor.next() : random_value(random);
  std::memcpy(reinterpret_cast<void*>(memory_address(&form, &state.thread)), &state.memory,
              sizeof(state.memory));
  return state;
}

bool is_same(const tc_instruction& form, const tc_thread_state& a, const tc_thread_state& b) {
  const bool is_logical = form.operation == TC_DO_AND || form.operation == TC_DO_TEST ||
                          form.operation == TC_DO_OR || form.operation == TC_DO_XOR;
  const uint64_t undefined = is_logical ? TC_ADJUST : 0;
  return std::ranges::equal(a.general, b.general) && a.ip == b.ip &&
         (a.flags | undefined) == (b.flags | undefined);
}

std::vector<const char*> emulated_instructions() {
  return {
      "f3 0f 1e fa",                 // endbr64
      "66 0f 1f 84 00 00 00 00 00",  // a nop that the kernel does not know
      // mov and its like
      "48 89 f8",
      "89 f8",
      "66 89 f8",
      "40 88 f8",
      "4d 89 c7",
      "48 89 e5",
      "48 89 e0",
      "b8 78 56 34 92",
      "41 b8 01 00 00 00",
      "66 b8 34 92",
      "b0 92",
      "40 b6 81",
      "48 c7 c0 ff ff ff 92",
      "48 b8 f0 de bc 9a 78 56 34 12",
      "8a 07",
      "44 8a 44 37 05",
      "48 8b 07",
      "8b 47 08",
      "66 8b 07",
      "48 8b 44 f7 10",
      "0f b7 07",
      "0f bf 07",
      "48 63 07",
      "48 8b 44 24 08",
      "8b 44 24 10",
      "66 8b 44 24 18",
      "4c 8b 54 24 20",
      "0f b6 c1",
      "40 0f b6 f6",
      "0f b7 f7",
      "48 0f b6 c0",
      "66 0f b6 c1",
      "0f b6 07",
      "0f b6 44 b7 03",
      "0f be c1",
      "48 0f be c1",
      "48 0f be 07",
      "0f bf c1",
      "48 0f bf c7",
      "48 63 ff",
      "48 63 c6",
      "4d 63 c8",
      "48 8d 47 08",
      "8d 04 37",
      "48 8d 44 b7 f8",
      "66 8d 47 08",
      "48 8d 05 00 01 00 00",
      "48 8d 04 bd 10 00 00 00",
      "4c 8d 4c 24 08",
      "48 8d 3c ff",
      // with flags
      "48 01 f8",
      "01 f8",
      "66 01 f8",
      "00 c8",
      "48 83 c0 7f",
      "48 05 78 56 34 92",
      "04 80",
      "48 83 c7 80",
      "41 01 d0",
      "02 07",
      "48 29 f8",
      "29 f8",
      "66 29 f8",
      "28 c8",
      "48 83 ef 01",
      "81 ee 00 00 00 80",
      "2c 01",
      "48 2b 44 24 08",
      "48 2b 07",
      "03 07",
      "48 39 f7",
      "39 f7",
      "66 39 f7",
      "38 c8",
      "48 83 ff 05",
      "83 fe ff",
      "80 f9 7f",
      "3c 41",
      "48 3b 7c 24 08",
      "80 3f 00",
      "38 07",
      "3a 07",
      "83 7c 24 08 05",
      "41 83 f8 80",
      "48 83 3f 00",
      "39 37",
      "66 81 3f 34 12",
      "48 3b 37",
      "48 85 ff",
      "85 ff",
      "66 85 ff",
      "84 c9",
      "40 f6 c7 01",
      "f7 c6 00 00 00 80",
      "f6 07 04",
      "f7 07 00 00 00 80",
      "48 85 37",
      "a8 01",
      "48 a9 00 00 00 80",
      "4d 85 c0",
      "48 f7 c7 00 00 00 80",
      "48 21 f8",
      "21 f8",
      "66 21 f8",
      "20 c8",
      "48 83 e7 f0",
      "83 e6 0f",
      "24 7f",
      "22 07",
      "48 09 f8",
      "09 f8",
      "66 09 f8",
      "08 c8",
      "83 cf 01",
      "48 81 cf 00 00 00 80",
      "0a 07",
      "48 31 f8",
      "31 c0",
      "66 31 f8",
      "30 c8",
      "45 31 c0",
      "83 f7 01",
      "48 31 ff",
      "34 80",
      "48 ff c0",
      "ff c7",
      "66 ff c6",
      "fe c1",
      "41 ff c7",
      "48 ff c8",
      "ff cf",
      "66 ff ce",
      "fe c9",
      "40 fe cf",
      // where functions exit
      "c3",
      "f3 c3",
      "ff e0",
      "41 ff e3",
      "ff e2",
      "ff 67 18",
      "ff 24 f7",
  };
}

}  // namespace tracectl
