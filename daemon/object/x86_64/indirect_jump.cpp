// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/object/code/indirect_jump.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "daemon/object/code/sorted.h"
#include "daemon/object/x86_64/decoder.h"

// A jump through a register is compiled from a switch (or computed goto), or from a call through a
// pointer in tail position. The source of the address tells which.
//
//   switch, position independent: the table has 32-bit distances from itself
//       lea table(%rip),%rdx;  movslq (%rdx,%rax,4),%rax;  add %rdx,%rax;  jmp *%rax
//     No compiler generates such a table of functions.
//   switch, at fixed addresses, and computed goto: the table has addresses
//       jmp *table(,%rax,8)    or    mov table(,%rax,8),%rax;  jmp *%rax
//     An array of pointers to functions looks the same: the first entry decides.
//   notrack: under Intel CET the target of an indirect jump must be endbr64, except with this prefix,
//     which compilers put on jumps of switches, whose tables are read-only.
//   anything loaded without a scaled index, or passed as an argument: a pointer, if the stack is
//     as at the function's entry. (Direct-threaded interpreters jump to labels kept in memory, but
//     have something on the stack.)
namespace tracectl {
namespace {

constexpr int kMostStepsBack = 64;
constexpr int kMostRegisters = 16;  // for one jump; in a loop, moves can form a cycle
constexpr size_t kMostEntries = 1024;

ZydisRegister whole(ZydisRegister reg) {
  return ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, reg);
}

bool is_register(const ZydisDecodedOperand& operand) {
  return operand.type == ZYDIS_OPERAND_TYPE_REGISTER;
}

bool is_memory(const ZydisDecodedOperand& operand) {
  return operand.type == ZYDIS_OPERAND_TYPE_MEMORY;
}

bool survives_calls(ZydisRegister reg) {
  static constexpr std::array kSaved{ZYDIS_REGISTER_RBX, ZYDIS_REGISTER_RBP, ZYDIS_REGISTER_R12,
                                     ZYDIS_REGISTER_R13, ZYDIS_REGISTER_R14, ZYDIS_REGISTER_R15};
  return std::ranges::find(kSaved, reg) != kSaved.end();
}

class Origin {
 public:
  Origin(const Listing& listing, const ReadFile& read) : listing_(listing), read_(read) {}

  IndirectJump of_jump(size_t index) {
    auto code = decode_operands(listing_[index].bytes);
    if (!code) return {};
    IndirectJump jump = of_operand(code->all[0], index);
    if (jump.leads == Leads::unknown && (code->instruction.attributes & ZYDIS_ATTRIB_HAS_NOTRACK))
      jump.leads = Leads::inside;
    return jump;
  }

 private:
  struct Write {
    size_t step;
    Operands code;
  };

  IndirectJump of_operand(const ZydisDecodedOperand& operand, size_t index) {
    if (is_register(operand)) return of_register(whole(operand.reg.value), index);
    if (!is_memory(operand)) return {};
    if (operand.mem.index == ZYDIS_REGISTER_NONE || operand.mem.scale == 1) return {Leads::outside};
    return of_address_table(operand, index);
  }

  // The source of a register's value before the step.
  IndirectJump of_register(ZydisRegister reg, size_t index) {
    if (++registers_followed_ > kMostRegisters) return {};
    auto write = last_write(reg, index);
    if (!write) return {may_be_of_table() ? Leads::unknown : Leads::outside};
    if (listing_[write->step].flow == Flow::call)
      return {reg == ZYDIS_REGISTER_RAX ? Leads::outside : Leads::unknown};
    switch (write->code.instruction.mnemonic) {
      case ZYDIS_MNEMONIC_MOV: return of_operand(write->code.all[1], write->step);
      case ZYDIS_MNEMONIC_ADD: return of_sum(*write);
      default: return {};
    }
  }

  IndirectJump of_sum(const Write& sum) {
    const auto& one = sum.code.all[0];
    const auto& other = sum.code.all[1];
    if (!is_register(one) || !is_register(other)) return {};
    if (is_distance_from(one.reg.value, other.reg.value, sum.step))
      return of_distance_table(other.reg.value, sum.step);
    if (is_distance_from(other.reg.value, one.reg.value, sum.step))
      return of_distance_table(one.reg.value, sum.step);
    return {};
  }

  // The register's last write is not searched for across a join of paths. But a function that reads
  // no table does not jump by one.
  bool may_be_of_table() const { return !is_argument_ && listing_.loads_by_index(); }

  // Whether `distance` was loaded from a table of 32-bit numbers whose address is in `base`.
  bool is_distance_from(ZydisRegister distance, ZydisRegister base, size_t index) {
    auto load = last_write(distance, index);
    if (!load || load->code.instruction.mnemonic != ZYDIS_MNEMONIC_MOVSXD) return false;
    const auto& from = load->code.all[1];
    return is_memory(from) && from.mem.base == base && from.mem.scale == 4 &&
           from.mem.index != ZYDIS_REGISTER_NONE;
  }

  IndirectJump of_distance_table(ZydisRegister base, size_t index) {
    IndirectJump jump{Leads::inside};
    auto table = address_in(base, index);
    if (table) jump.targets = entries<int32_t>(*table, *table);
    if (table && read_ && jump.targets.empty()) jump.leads = Leads::unknown;
    return jump;
  }

  IndirectJump of_address_table(const ZydisDecodedOperand& operand, size_t index) {
    auto table = address_of(operand, index);
    if (!table || operand.mem.scale != 8) return {};
    if (auto targets = entries<uint64_t>(*table, 0); !targets.empty())
      return {Leads::inside, std::move(targets)};
    auto first = numbers<uint64_t>(*table, 1);
    bool is_elsewhere = !first.empty() && first[0] != 0 && !listing_.contains(first[0]);
    return {is_elsewhere ? Leads::outside : Leads::unknown};
  }

  std::optional<uint64_t> address_of(const ZydisDecodedOperand& operand, size_t index) {
    auto displacement = static_cast<uint64_t>(operand.mem.disp.value);
    if (operand.mem.base == ZYDIS_REGISTER_NONE) return displacement;
    auto base = address_in(operand.mem.base, index);
    return base ? std::optional{*base + displacement} : std::nullopt;
  }

  // The constant address in a register.
  std::optional<uint64_t> address_in(ZydisRegister reg, size_t index) {
    auto write = last_write(whole(reg), index);
    if (!write) return std::nullopt;
    const auto& from = write->code.all[1];
    if (write->code.instruction.mnemonic == ZYDIS_MNEMONIC_MOV &&
        from.type == ZYDIS_OPERAND_TYPE_IMMEDIATE)
      return from.imm.value.u;
    if (write->code.instruction.mnemonic != ZYDIS_MNEMONIC_LEA ||
        from.mem.base != ZYDIS_REGISTER_RIP)
      return std::nullopt;
    return listing_[write->step].end() + static_cast<uint64_t>(from.mem.disp.value);
  }

  std::optional<Write> last_write(ZydisRegister reg, size_t index) {
    for (int back = 0; back < kMostStepsBack; ++back) {
      is_argument_ = index == 0 && listing_[0].jumps_here == 0;
      auto earlier = listing_.only_before(index);
      if (!earlier) return std::nullopt;
      index = *earlier;
      auto code = decode_operands(listing_[index].bytes);
      if (!code) return std::nullopt;
      bool is_lost = listing_[index].flow == Flow::call && !survives_calls(reg);
      if (is_lost || writes(*code, reg)) return Write{index, *code};
    }
    return std::nullopt;
  }

  // Up to `most` numbers, as far as the file goes.
  template <class Number> std::vector<Number> numbers(uint64_t address, size_t most) const {
    std::vector<uint8_t> bytes(most * sizeof(Number));
    size_t got = read_ ? std::min(read_(address, bytes), bytes.size()) : 0;
    std::vector<Number> numbers(got / sizeof(Number));
    if (!numbers.empty())
      std::memcpy(numbers.data(), bytes.data(), numbers.size() * sizeof(Number));
    return numbers;
  }

  // The table's length is not known here, so it is read as long as its entries are steps of this
  // function. Reading beyond its end only makes less known about the stack.
  template <class Number> std::vector<size_t> entries(uint64_t table, uint64_t base) const {
    std::vector<size_t> steps;
    for (Number number : numbers<Number>(table, kMostEntries)) {
      auto step = listing_.at(base + static_cast<uint64_t>(number));
      if (!step) break;
      steps.push_back(*step);
    }
    sort_once(steps);
    return steps;
  }

  const Listing& listing_;
  const ReadFile& read_;
  int registers_followed_ = 0;
  bool is_argument_ = false;  // the last search reached the entry
};

}  // namespace

IndirectJump indirect_jump(const Listing& listing, size_t step, const ReadFile& read) {
  return Origin{listing, read}.of_jump(step);
}

}  // namespace tracectl
