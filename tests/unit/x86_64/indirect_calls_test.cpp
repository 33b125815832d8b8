// SPDX-License-Identifier: BSD-2-Clause
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <vector>

#include "daemon/object/code/indirect_calls.h"

namespace tracectl {
namespace {

using testing::SizeIs;

constexpr uint64_t kCallsBody = 0x1000;

std::vector<IndirectCall> calls_of(const std::string& hex) {
  std::istringstream in{hex};
  std::vector<uint8_t> code;
  for (unsigned byte = 0; in >> std::hex >> byte;) code.push_back(static_cast<uint8_t>(byte));
  return indirect_calls({.body = {kCallsBody, code}, .extent = Extent::whole},
                        [](uint64_t, std::span<uint8_t>) { return size_t{0}; });
}

// Operands as gdb writes them: `rax`, `[rbx+rcx*8+16]`. Then `= ADDRESS` of the word, if no
// register affects it.
std::string callee_of(const std::string& hex) {
  const auto calls = calls_of(hex);
  if (calls.size() != 1) return std::to_string(calls.size()) + " calls";
  static const char* const kNames[] = {"rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi", "r8",
                                       "r9",  "r10", "r11", "r12", "r13", "r14", "r15", "rip"};
  const auto name = [](Register reg) {
    return reg == Register::none ? "" : kNames[static_cast<size_t>(reg)];
  };
  const Argument& callee = calls[0].callee;
  if (callee.place == Argument::Place::in_register) return name(callee.base);
  std::ostringstream text;
  text << '[' << name(callee.base);
  if (callee.index != Register::none) text << '+' << name(callee.index) << '*' << +callee.scale;
  text << (callee.offset < 0 ? "" : "+") << callee.offset << ']';
  if (calls[0].slot) text << " = " << std::hex << *calls[0].slot;
  return text.str();
}

// The bytes are from the GNU assembler.
TEST(IndirectCalls, HaveTheirCalleeWhereTheInstructionSays) {
  EXPECT_EQ(callee_of("ff d0"), "rax");
  EXPECT_EQ(callee_of("41 ff d7"), "r15");
  EXPECT_EQ(callee_of("ff 50 08"), "[rax+8]");
  EXPECT_EQ(callee_of("41 ff 54 24 f8"), "[r12-8]");
  EXPECT_EQ(callee_of("ff 14 cb"), "[rbx+rcx*8+0]");
  EXPECT_EQ(callee_of("42 ff 94 e3 00 01 00 00"), "[rbx+r12*8+256]");
  EXPECT_EQ(callee_of("ff 14 c5 00 40 40 00"), "[+rax*8+4210688]");
}

// Relative to the instruction's start; the processor counts from its end.
TEST(IndirectCalls, SayWhichWordTheyReadWhereNoRegisterMovesIt) {
  EXPECT_EQ(callee_of("90 ff 15 f9 0f 00 00"), "[rip+4095] = 2000");
  EXPECT_EQ(callee_of("ff 14 25 00 40 40 00"), "[+4210688] = 404000");
}

TEST(IndirectCalls, AreNoDirectOnesAndNoneOfOtherSegments) {
  EXPECT_THAT(calls_of("e8 fb 0f 00 00 c3"), SizeIs(0));
  EXPECT_THAT(calls_of("64 ff 10 c3"), SizeIs(0));
  EXPECT_THAT(calls_of("ff 18 c3"), SizeIs(0));  // far
}

// mov 8(%rdi),%rax; jmp *%rax is a call in tail position; with sub $8,%rsp before it may be none.
TEST(IndirectCalls, AreJumpsThatSurelyLeaveTheFunction) {
  EXPECT_EQ(callee_of("48 8b 47 08 ff e0"), "rax");
  EXPECT_EQ(callee_of("48 8b 07 ff 60 10"), "[rax+16]");
  EXPECT_THAT(calls_of("ff 24 c5 00 40 40 00"), SizeIs(0));  // by a table that cannot be read
}

// ret; 1: mov %rax,%rax; jne 1; jmp *%rax: the search for the origin of rax runs in a circle.
TEST(IndirectCalls, AreNoneWhereMovesInALoopHideWhereAJumpLeads) {
  EXPECT_THAT(calls_of("c3 48 89 c0 75 fb ff e0"), SizeIs(0));
}

// The bytes may be a table that the program reads.
TEST(IndirectCalls, AreNoneWhereNotAllIsCode) { EXPECT_EQ(callee_of("06 ff d0"), "0 calls"); }

}  // namespace
}  // namespace tracectl
