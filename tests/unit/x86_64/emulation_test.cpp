// SPDX-License-Identifier: BSD-2-Clause
#include <gtest/gtest.h>

#include <cstring>

#include "bpf/emulate.h"
#include "daemon/object/code/emulation.h"
#include "tests/support/hex_code.h"
#include "tests/support/processor.h"

namespace tracectl {
namespace {

constexpr int kStates = 2000;  // `make bench` tries a million of each instruction

class Emulated : public testing::TestWithParam<const char*> {};

TEST_P(Emulated, IsWhatTheProcessorDoes) {
  const auto code = bytes(GetParam());
  const auto form = emulated_form(code, Standing::at_exit, Emulates::all);
  ASSERT_TRUE(form);
  EXPECT_EQ(form->length, code.size());
  const Processor processor(code);
  std::mt19937_64 random(1);
  for (int i = 0; i < kStates; ++i) {
    const emulated_state state = random_state(random, *form, processor);
    tc_thread_state ours = state.thread;
    emulate(&*form, &ours, state.memory);
    ASSERT_TRUE(is_same(*form, ours, processor.run(state.thread))) << "state " << i;
  }
}

INSTANTIATE_TEST_SUITE_P(Instruction, Emulated, testing::ValuesIn(emulated_instructions()));

class LeftToTheKernel : public testing::TestWithParam<const char*> {};

TEST_P(LeftToTheKernel, IsNotEmulated) {
  const auto code = bytes(GetParam());
  EXPECT_FALSE(emulated_form(code, Standing::within, Emulates::all));
  EXPECT_FALSE(emulated_form(code, Standing::at_exit, Emulates::all));
}

INSTANTIATE_TEST_SUITE_P(Instruction, LeftToTheKernel,
                         testing::Values("48 89 07",                    // writes memory
                                         "48 83 07 01",                 // likewise
                                         "48 ff 07",                    // likewise
                                         "64 48 8b 04 25 28 00 00 00",  // fs:
                                         "65 8a 07",                    // gs:
                                         "67 8a 07",                    // a 32-bit address
                                         "88 e0", "b4 05", "0f b6 fc",  // ah and bh
                                         "f0 48 83 07 01",              // lock
                                         "0f 20 c0", "8e d8", "8c d8",  // other registers
                                         "48 13 f8", "48 19 f8",        // adc, sbb
                                         "c2 08 00", "cb", "48 cb",     // other returns
                                         "66 c3", "66 ff e0",           // with 16 bits
                                         "5d", "c9"));

// Another thread may be writing it, also what is on this one's stack.
TEST(Emulation, LoadsNothingBesidesBytesAndReturnAddressesUnlessItMay) {
  for (const char* code : {"48 8b 07", "39 3d 00 01 00 00", "48 8b 04 fc", "ff 25 00 01 00 00",
                           "ff 67 18", "48 8b 44 24 08"}) {
    EXPECT_FALSE(emulated_form(bytes(code), Standing::within, Emulates::all_but_loads)) << code;
    EXPECT_TRUE(emulated_form(bytes(code), Standing::within, Emulates::all)) << code;
  }
  EXPECT_TRUE(emulated_form(bytes("8a 07"), Standing::within, Emulates::all_but_loads));
  EXPECT_TRUE(emulated_form(bytes("c3"), Standing::at_exit, Emulates::all_but_loads));
  EXPECT_FALSE(emulated_form(bytes("48 89 f8"), Standing::within, Emulates::nothing));
}

// For another tracer that wants the return, the kernel writes to where the stack pointer is after this program.
TEST(Emulation, WritesNoStackPointerButByReturnsAtExits) {
  for (const char* code : {"48 83 ec 18", "48 83 c4 08", "48 89 ec", "bc 00 00 00 00"})
    for (const Standing standing : {Standing::within, Standing::at_exit})
      EXPECT_FALSE(emulated_form(bytes(code), standing, Emulates::all)) << code;
  for (const char* code : {"c3", "f3 c3"}) {
    EXPECT_FALSE(emulated_form(bytes(code), Standing::within, Emulates::all)) << code;
    EXPECT_TRUE(emulated_form(bytes(code), Standing::at_exit, Emulates::all)) << code;
  }
}

// The kernel changes these bits of its copy.
TEST(Emulation, DoesNotCompareWhatTheKernelChanges) {
  const auto mask_of = [](const char* code) {
    const auto form = emulated_form(bytes(code), Standing::within, Emulates::all);
    std::array<uint8_t, 16> mask{};
    if (form) std::memcpy(mask.data(), form->mask, mask.size());
    return mask;
  };
  EXPECT_EQ(mask_of("48 8d 05 00 01 00 00"),
            (std::array<uint8_t, 16>{0xfe, 0xff, 0x38, 0xff, 0xff, 0xff, 0xff}));
  EXPECT_EQ(mask_of("80 3d 00 01 00 00 00"),
            (std::array<uint8_t, 16>{0xff, 0x38, 0xff, 0xff, 0xff, 0xff, 0xff}));
  EXPECT_EQ(mask_of("48 8d 47 08"), (std::array<uint8_t, 16>{0xff, 0xff, 0xff, 0xff}));
}

}  // namespace
}  // namespace tracectl
