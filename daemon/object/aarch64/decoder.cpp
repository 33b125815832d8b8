// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/object/aarch64/decoder.h"

#include <capstone/capstone.h>

#include <algorithm>
#include <array>

#include "daemon/object/aarch64/encoding.h"

namespace tracectl {
namespace {

bool is_any(uint32_t word, std::span<const Encoding> encodings) {
  return std::ranges::any_of(encodings, [&](Encoding one) { return is(word, one); });
}

constexpr Encoding kBranches{0x1c000000, 0x14000000};  // with exceptions and the system

constexpr std::array kKnownBranches{
    kB,   kBl,     kBCond,   kBcCond,  kCompareBranch, kTestBranch, kBr,   kBlr,
    kRet, kBrAuth, kBlrAuth, kRetAuth, kEret,          kEretAuth,   kDrps, kSvc,
    kHvc, kSmc,    kBrk,     kHlt,     kDcps,          kSystem,
};

bool is_allocated(uint32_t word) {
  if (is(word, kBranches)) return is_any(word, kKnownBranches);
  const bool is_matrix = (word >> 31) != 0;
  switch (bits(word, 25, 4)) {  // C4.1, op0
    case 0b0000: return is_matrix || is(word, kUdf);
    case 0b0001:
    case 0b0011: return false;
    default: return true;
  }
}

constexpr std::array kStackPointerResults{
    Encoding{0x3f800000, 0x11000000},  // add, sub of a number
    Encoding{0xbf800000, 0x91800000},  // addg, subg
    Encoding{0x7f800000, 0x12000000},  // and of a mask
    Encoding{0x7f800000, 0x32000000},  // orr
    Encoding{0x7f800000, 0x52000000},  // eor
    Encoding{0x3fe00000, 0x0b200000},  // add, sub of an extended register
    Encoding{0xffe0fc00, 0x9ac01000},  // irg
    Encoding{0xffa0f000, 0x04205000},  // addvl, addpl, and those of the streaming length
};

// Loads and stores that write the address back to the base register.
constexpr std::array kWritebacks{
    Encoding{0x3a800000, 0x28800000},  // pairs
    Encoding{0x3b200400, 0x38000400},  // single ones
    Encoding{0xff200c00, 0xf8200c00},  // ldraa, ldrab
    Encoding{0xbe800000, 0x0c800000},  // structures of vectors
    Encoding{0xff200400, 0xd9200400},  // memory tags
    Encoding{0x3f200c00, 0x19000800},  // ldiapp, stilp and their neighbours
};

// Those that use further registers than the ones they name.
constexpr std::array kUsesUnnamed{
    kCompareAndSwapPair, Encoding{0xfffffc00, 0xf83fd000},  // ld64b
    Encoding{0xffe0ec00, 0xf820a000},                       // st64bv, st64bv0
    Encoding{0xfffffc00, 0xf83f9000},                       // st64b
};

bool names(uint32_t word, uint8_t number) {
  return first_register(word) == number || base_register(word) == number ||
         pair_register(word) == number || index_register(word) == number;
}

// The registers that a hint uses, of those that have an effect: pointer authentication.
bool hint_may_use(uint32_t hint, uint8_t number) {
  constexpr uint32_t kXpaclri = 7;
  constexpr uint32_t kChkfeat = 40;
  if (number == kLinkNumber) return hint == kXpaclri || (hint >= 24 && hint <= 31);
  if (number == 16) return (hint >= 8 && hint <= 15) || hint == kChkfeat;
  if (number == 17) return hint >= 8 && hint <= 15;
  return number == 15 && hint == 39;  // pacm
}

enum class Use { write, any };

bool is_data_processing(uint32_t word) {
  const uint32_t group = bits(word, 25, 4);  // C4.1, op0
  return (group & 0b1110) == 0b1000 || (group & 0b0111) == 0b0101;
}

constexpr std::array kWritesFlagsOnly{
    Encoding{0x3fe00000, 0x3a400000},  // ccmp, ccmn
    Encoding{0xffe07c10, 0xba000400},  // rmif
    Encoding{0xffffbc1f, 0x3a00080d},  // setf8, setf16
};

// Of immediate operands: adr, adrp, movz, movn, movk.
constexpr std::array kHasNoSource{
    Encoding{0x1f000000, 0x10000000},
    Encoding{0x1f800000, 0x12800000},
};
constexpr Encoding kExtract{0x1f800000, 0x13800000};       // of two registers
constexpr Encoding kThreeSources{0x1f000000, 0x1b000000};  // madd and its like

bool reads_in_data_processing(uint32_t word, uint8_t number) {
  const bool is_base = base_register(word) == number;
  const bool is_second = index_register(word) == number;
  const bool is_third = pair_register(word) == number;
  const bool has_registers = bits(word, 25, 3) == 0b101;
  if (has_registers) return is_base || is_second || (is_third && is(word, kThreeSources));
  return !is_any(word, kHasNoSource) && (is_base || (is_second && is(word, kExtract)));
}

bool data_processing_may(Use use, uint32_t word, uint8_t number) {
  if (first_register(word) == number && !is_any(word, kWritesFlagsOnly)) return true;
  return use == Use::any && reads_in_data_processing(word, number);
}

class Capstone {
 public:
  Capstone() {
    if (cs_open(CS_ARCH_ARM64, CS_MODE_LITTLE_ENDIAN, &handle_) != CS_ERR_OK) return;
    cs_option(handle_, CS_OPT_DETAIL, CS_OPT_ON);
    instruction_ = cs_malloc(handle_);
  }
  ~Capstone() {
    if (instruction_ != nullptr) cs_free(instruction_, 1);
    if (handle_ != 0) cs_close(&handle_);
  }
  Capstone(const Capstone&) = delete;
  Capstone& operator=(const Capstone&) = delete;

  struct Registers {
    cs_regs read;
    cs_regs written;
    uint8_t read_count = 0;
    uint8_t written_count = 0;
  };

  std::optional<Registers> registers_of(uint32_t word) {
    if (instruction_ == nullptr) return std::nullopt;
    const std::array bytes{static_cast<uint8_t>(word), static_cast<uint8_t>(word >> 8),
                           static_cast<uint8_t>(word >> 16), static_cast<uint8_t>(word >> 24)};
    const uint8_t* code = bytes.data();
    size_t size = bytes.size();
    uint64_t address = 0;
    if (!cs_disasm_iter(handle_, &code, &size, &address, instruction_)) return std::nullopt;
    Registers used;
    if (cs_regs_access(handle_, instruction_, used.read, &used.read_count, used.written,
                       &used.written_count) != CS_ERR_OK)
      return std::nullopt;
    return used;
  }

 private:
  csh handle_ = 0;
  cs_insn* instruction_ = nullptr;
};

std::optional<Capstone::Registers> registers_of(uint32_t word) {
  thread_local Capstone capstone;
  return capstone.registers_of(word);
}

// Capstone numbers x29 and x30 apart from the others.
bool is_number(uint16_t reg, uint8_t number) {
  if (reg >= ARM64_REG_W0 && reg <= ARM64_REG_W30) return reg - ARM64_REG_W0 == number;
  if (reg >= ARM64_REG_X0 && reg <= ARM64_REG_X28) return reg - ARM64_REG_X0 == number;
  return (reg == ARM64_REG_X29 && number == kFrameNumber) ||
         (reg == ARM64_REG_X30 && number == kLinkNumber);
}

bool contains(std::span<const uint16_t> registers, uint8_t number) {
  return std::ranges::any_of(registers, [&](uint16_t reg) { return is_number(reg, number); });
}

bool may(Use use, uint32_t word, uint8_t number) {
  if (is(word, kHint)) return hint_may_use(hint_of(word), number);
  if (is(word, kSvc)) return number <= 8;  // arguments, result and number of a call of the kernel
  if (is_call(word) && number == kLinkNumber) return true;
  if (is_any(word, kUsesUnnamed)) return true;
  if (is_data_processing(word)) return data_processing_may(use, word, number);
  if (!names(word, number)) return false;
  const auto used = registers_of(word);
  if (!used) return true;
  return contains(std::span{used->written}.first(used->written_count), number) ||
         (use == Use::any && contains(std::span{used->read}.first(used->read_count), number));
}

}  // namespace

std::optional<uint32_t> instruction_in(std::span<const uint8_t> bytes) {
  if (bytes.size() < kInstructionBytes) return std::nullopt;
  const uint32_t word = uint32_t{bytes[0]} | uint32_t{bytes[1]} << 8 | uint32_t{bytes[2]} << 16 |
                        uint32_t{bytes[3]} << 24;
  return is_allocated(word) ? std::optional{word} : std::nullopt;
}

std::optional<int64_t> relative_target(uint32_t word) {
  constexpr int64_t kUnit = kInstructionBytes;
  if (is(word, kB) || is(word, kBl)) return signed_bits(word, 0, 26) * kUnit;
  if (is(word, kBCond) || is(word, kBcCond) || is(word, kCompareBranch))
    return signed_bits(word, 5, 19) * kUnit;
  if (is(word, kTestBranch)) return signed_bits(word, 5, 14) * kUnit;
  return std::nullopt;
}

std::optional<uint64_t> relative_address(uint32_t word, uint64_t address) {
  constexpr uint64_t kPageBytes = 4096;
  const auto distance =
      static_cast<uint64_t>(signed_bits(word, 5, 19) * 4 + int64_t{bits(word, 29, 2)});
  if (is(word, kAdr)) return address + distance;
  if (is(word, kAdrp)) return (address & ~(kPageBytes - 1)) + distance * kPageBytes;
  return std::nullopt;
}

bool is_call(uint32_t word) { return is(word, kBl) || is(word, kBlr) || is(word, kBlrAuth); }

bool is_return(uint32_t word) {
  return is(word, kRetAuth) || (is(word, kRet) && base_register(word) == kLinkNumber);
}

bool is_indirect_jump(uint32_t word) {
  return is(word, kBr) || is(word, kBrAuth) || (is(word, kRet) && !is_return(word));
}

bool writes_stack_pointer(uint32_t word) {
  if (first_register(word) == kStackNumber && is_any(word, kStackPointerResults)) return true;
  return base_register(word) == kStackNumber && is_any(word, kWritebacks);
}

bool may_write(uint32_t word, uint8_t number) { return may(Use::write, word, number); }
bool may_use(uint32_t word, uint8_t number) { return may(Use::any, word, number); }

bool survives_calls(uint8_t number) { return number >= 19 && number <= kFrameNumber; }

}  // namespace tracectl
