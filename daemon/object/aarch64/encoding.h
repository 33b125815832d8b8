// SPDX-License-Identifier: BSD-2-Clause
//
// The encodings of A64 instructions by which this room decides (Arm ARM, C4 and C6). A later extension of the
// architecture does not change them.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tracectl {

inline constexpr size_t kInstructionBytes = 4;

inline constexpr uint8_t kFrameNumber = 29;
inline constexpr uint8_t kLinkNumber = 30;
inline constexpr uint8_t kStackNumber = 31;  // or the zero register: it depends on the instruction

// The instructions that have these bits.
struct Encoding {
  uint32_t mask;
  uint32_t value;
};

constexpr bool is(uint32_t word, Encoding encoding) {
  return (word & encoding.mask) == encoding.value;
}

constexpr uint32_t bits(uint32_t word, unsigned lowest, unsigned count) {
  return (word >> lowest) & ((uint32_t{1} << count) - 1);
}

constexpr int64_t signed_bits(uint32_t word, unsigned lowest, unsigned count) {
  const auto sign = int64_t{1} << (count - 1);
  return (int64_t{bits(word, lowest, count)} ^ sign) - sign;
}

// The fields in which an instruction names its registers.
constexpr uint8_t first_register(uint32_t word) { return static_cast<uint8_t>(bits(word, 0, 5)); }
constexpr uint8_t base_register(uint32_t word) { return static_cast<uint8_t>(bits(word, 5, 5)); }
constexpr uint8_t pair_register(uint32_t word) { return static_cast<uint8_t>(bits(word, 10, 5)); }
constexpr uint8_t index_register(uint32_t word) { return static_cast<uint8_t>(bits(word, 16, 5)); }

// ---- branches, exceptions and the system ----

inline constexpr Encoding kB{0xfc000000, 0x14000000};
inline constexpr Encoding kBl{0xfc000000, 0x94000000};
inline constexpr Encoding kBCond{0xff000010, 0x54000000};
inline constexpr Encoding kBcCond{0xff000010,
                                  0x54000010};  // b.cond with a hint that it behaves steadily
inline constexpr Encoding kCompareBranch{0x7e000000, 0x34000000};  // cbz, cbnz
inline constexpr Encoding kTestBranch{0x7e000000, 0x36000000};     // tbz, tbnz
inline constexpr Encoding kBr{0xfffffc1f, 0xd61f0000};
inline constexpr Encoding kBlr{0xfffffc1f, 0xd63f0000};
inline constexpr Encoding kRet{0xfffffc1f, 0xd65f0000};
// The same with an authenticated pointer. Bit 24: with a modifier in a register, else with zero.
inline constexpr Encoding kBrAuth{0xfefff800, 0xd61f0800};
inline constexpr Encoding kBlrAuth{0xfefff800, 0xd63f0800};
inline constexpr Encoding kRetAuth{0xfffffbff, 0xd65f0bff};
inline constexpr Encoding kEret{0xffffffff, 0xd69f03e0};
inline constexpr Encoding kEretAuth{0xfffffbff, 0xd69f0bff};
inline constexpr Encoding kDrps{0xffffffff, 0xd6bf03e0};
inline constexpr Encoding kException{0xff000000, 0xd4000000};
inline constexpr Encoding kSvc{0xffe0001f, 0xd4000001};
inline constexpr Encoding kHvc{0xffe0001f, 0xd4000002};
inline constexpr Encoding kSmc{0xffe0001f, 0xd4000003};
inline constexpr Encoding kBrk{0xffe0001f, 0xd4200000};
inline constexpr Encoding kHlt{0xffe0001f, 0xd4400000};
inline constexpr Encoding kDcps{0xffe0001c, 0xd4a00000};
inline constexpr Encoding kUdf{0xffff0000, 0x00000000};
inline constexpr Encoding kSystem{0xff000000, 0xd5000000};
inline constexpr Encoding kMemoryCopy{0x3b200c00, 0x19000400};  // cpyp, setm... (FEAT_MOPS)
inline constexpr Encoding kHint{0xfffff01f, 0xd503201f};
inline constexpr Encoding kNop{0xffffffff, 0xd503201f};
inline constexpr Encoding kMsrImmediate{0xfff8f01f, 0xd500401f};
inline constexpr Encoding kMsrRegister{0xfff00000, 0xd5100000};
inline constexpr Encoding kMrsDaif{0xffffffe0, 0xd53b4220};

constexpr uint32_t hint_of(uint32_t word) { return bits(word, 5, 7); }

// ---- data processing ----

inline constexpr Encoding kAdr{0x9f000000, 0x10000000};
inline constexpr Encoding kAdrp{0x9f000000, 0x90000000};
// add and sub of a number, 64 bits, which leave the flags alone; register 31 is the stack pointer.
inline constexpr Encoding kAddNumber{0xff800000, 0x91000000};
inline constexpr Encoding kSubNumber{0xff800000, 0xd1000000};
constexpr int64_t number_added(uint32_t word) {
  const int64_t number = int64_t{bits(word, 10, 12)} << (bits(word, 22, 1) != 0 ? 12 : 0);
  return bits(word, 30, 1) != 0 ? -number : number;
}
inline constexpr Encoding kMoveRegister{0xffe0ffe0, 0xaa0003e0};  // orr xD, xzr, xM
inline constexpr Encoding kCompareNumber{0x7fc0001f, 0x7100001f};

// ---- loads and stores ----

inline constexpr Encoding kLiteral{0x3b000000, 0x18000000};  // also of vector registers, also prfm
inline constexpr Encoding kVector{0x04000000, 0x04000000};   // of all loads and stores
inline constexpr Encoding kExclusive{0x3f800000, 0x08000000};  // ldxr, stlxr, ldxp... and casp
inline constexpr Encoding kCompareAndSwapPair{0xbfa07c00, 0x08207c00};
inline constexpr Encoding kLoadUnsigned{0x3b000000, 0x39000000};  // [base, #number], and stores
inline constexpr Encoding kLoadSigned{0x3b200000,
                                      0x38000000};  // [base, #number] of 9 bits, and stores
inline constexpr Encoding kLoadByRegister{0x3b200c00, 0x38200800};  // and stores
constexpr bool is_index_scaled(uint32_t word) { return bits(word, 12, 1) != 0; }
inline constexpr Encoding kLoadPair{0x3a000000, 0x28000000};          // and stores
inline constexpr Encoding kStorePairWithTag{0xfe400000, 0x68000000};  // stgp

}  // namespace tracectl
