// SPDX-License-Identifier: BSD-2-Clause
#include "tests/support/machine.h"

#include <algorithm>
#include <stdexcept>

#include "daemon/model/pattern.h"

namespace tracectl {
namespace {

using Wide = __int128;

uint64_t extended(uint64_t value, unsigned size_bytes, bool is_signed) {
  const unsigned unused = 64 - 8 * size_bytes;
  value <<= unused;
  return is_signed ? static_cast<uint64_t>(static_cast<int64_t>(value) >> unused) : value >> unused;
}

int64_t as_signed(uint64_t value) { return static_cast<int64_t>(value); }

class Machine {
 public:
  Machine(const ExprCode& code, const MachineHit& hit) : code_(code), hit_(hit) {}

  MachineResult run() {
    MachineResult result;
    for (size_t at = 0;; at++) {
      if (at >= code_.insns.size()) throw std::logic_error{"the code has no end"};
      const tc_insn& insn = code_.insns[at];
      result.executed++;
      if (compares_text(insn.op)) {
        auto holds = compare_text(insn);
        if (!holds) return result;
        if (!*holds) at += insn.skip;
        continue;
      }
      auto a = insn.op == TC_OP_SKIP ? 0 : load(insn.a_from, insn.a, insn.immediate);
      if (!a) return result;
      if (insn.op == TC_OP_RETURN) {
        result.value = a;
        return result;
      }
      const bool one_operand = insn.op == TC_OP_MOVE || is_read(insn.op) || insn.op == TC_OP_SKIP;
      const uint64_t b = one_operand ? 0 : *load_plain(insn);
      if (is_skip(insn.op)) {
        if (insn.op == TC_OP_SKIP || !compare(insn, *a, b)) at += insn.skip;
        continue;
      }
      auto value = compute(insn.op, *a, b);
      if (!value) return result;
      registers_.at(insn.to) = *value;
    }
  }

 private:
  static bool is_read(uint8_t op) { return op >= TC_OP_READ_U8 && op <= TC_OP_READ_U64; }

  std::optional<uint64_t> load_plain(const tc_insn& insn) const {
    if (insn.b_from > TC_FROM_IMMEDIATE) throw std::logic_error{"b is no register or immediate"};
    if (insn.b_from == TC_FROM_IMMEDIATE && insn.a_from == TC_FROM_IMMEDIATE)
      throw std::logic_error{"two immediates"};
    return load(insn.b_from, insn.b, insn.immediate);
  }

  std::optional<uint64_t> load(uint8_t from, uint8_t number, int64_t immediate) const {
    switch (from) {
      case TC_FROM_REGISTER: return registers_.at(number).value();
      case TC_FROM_IMMEDIATE: return static_cast<uint64_t>(immediate);
      case TC_FROM_ARG: return argument_value(hit_, number, false);
      case TC_FROM_ARG_SIGNED: return argument_value(hit_, number, true);
      case TC_FROM_PID: return hit_.pid;
      case TC_FROM_TID: return hit_.tid;
      case TC_FROM_UID: return hit_.uid;
      case TC_FROM_CPU: return hit_.cpu;
      case TC_FROM_CGROUP: return hit_.cgroup;
      case TC_FROM_TS: return hit_.ts_ns;
      default: throw std::logic_error{"no such source"};
    }
  }

  std::optional<uint64_t> compute(uint8_t op, uint64_t a, uint64_t b) const {
    switch (op) {
      case TC_OP_MOVE: return a;
      case TC_OP_ADD: return a + b;
      case TC_OP_SUB: return a - b;
      case TC_OP_MUL: return a * b;
      case TC_OP_AND: return a & b;
      case TC_OP_OR: return a | b;
      case TC_OP_XOR: return a ^ b;
      case TC_OP_SHL: return a << (b & 63);
      case TC_OP_SHR_S: return static_cast<uint64_t>(as_signed(a) >> (b & 63));
      case TC_OP_SHR_U: return a >> (b & 63);
      case TC_OP_READ_U8: return read_memory(hit_, a, 1, false);
      case TC_OP_READ_S8: return read_memory(hit_, a, 1, true);
      case TC_OP_READ_U16: return read_memory(hit_, a, 2, false);
      case TC_OP_READ_S16: return read_memory(hit_, a, 2, true);
      case TC_OP_READ_U32: return read_memory(hit_, a, 4, false);
      case TC_OP_READ_S32: return read_memory(hit_, a, 4, true);
      case TC_OP_READ_U64: return read_memory(hit_, a, 8, false);
      default: return divide(op, a, b);
    }
  }

  static std::optional<uint64_t> divide(uint8_t op, uint64_t a, uint64_t b) {
    if (b == 0) return std::nullopt;
    const Wide sa = as_signed(a), sb = as_signed(b);
    switch (op) {
      case TC_OP_DIV_S: return static_cast<uint64_t>(sa / sb);
      case TC_OP_DIV_U: return a / b;
      case TC_OP_MOD_S: return static_cast<uint64_t>(sa % sb);
      case TC_OP_MOD_U: return a % b;
      default: throw std::logic_error{"no such operation"};
    }
  }

  static bool compare(const tc_insn& insn, uint64_t a, uint64_t b) {
    if (insn.to == 0 || insn.to >= (TC_LESS | TC_EQUAL | TC_GREATER))
      throw std::logic_error{"no such relation"};
    const Wide left = insn.op == TC_OP_SKIP_UNLESS_U ? Wide{a} : as_signed(a);
    const Wide right = insn.op == TC_OP_SKIP_UNLESS_S ? as_signed(b) : Wide{b};
    return (insn.to & TC_LESS && left < right) || (insn.to & TC_EQUAL && left == right) ||
           (insn.to & TC_GREATER && left > right);
  }

  std::optional<std::string> string_of(const tc_insn& insn) const {
    if (insn.b == TC_TEXT_COMM) return hit_.comm;
    if (insn.a_from == TC_FROM_IMMEDIATE) throw std::logic_error{"the immediate is the text's"};
    auto address = load(insn.a_from, insn.a, 0);
    return address ? read_text(hit_, *address, insn.to) : std::nullopt;
  }

  std::optional<bool> compare_text(const tc_insn& insn) const {
    auto string = string_of(insn);
    if (!string) return std::nullopt;
    const std::string& text = code_.texts.at(static_cast<size_t>(insn.immediate));
    switch (insn.op) {
      case TC_OP_SKIP_UNLESS_TEXT_EQ: return *string == text;
      case TC_OP_SKIP_UNLESS_TEXT_NE: return *string != text;
      case TC_OP_SKIP_UNLESS_TEXT_LIKE: return glob_match(text, *string);
      default: return !glob_match(text, *string);
    }
  }

  const ExprCode& code_;
  const MachineHit& hit_;
  std::array<std::optional<uint64_t>, TC_REGISTERS> registers_;
};

}  // namespace

std::optional<uint64_t> read_memory(const MachineHit& hit, uint64_t address, unsigned size_bytes,
                                    bool is_signed) {
  const uint64_t at = address - hit.memory_start;
  if (at >= hit.memory.size() || hit.memory.size() - at < size_bytes) return std::nullopt;
  uint64_t value = 0;
  for (unsigned i = size_bytes; i-- > 0;)
    value = value << 8 | static_cast<unsigned char>(hit.memory[at + i]);
  return extended(value, size_bytes, is_signed);
}

std::optional<std::string> read_string(const MachineHit& hit, uint64_t address, size_t most_bytes) {
  std::string string;
  while (string.size() < most_bytes) {
    auto byte = read_memory(hit, address + string.size(), 1, false);
    if (!byte) return std::nullopt;
    if (*byte == 0) break;
    string += static_cast<char>(*byte);
  }
  return string;
}

std::optional<std::string> read_text(const MachineHit& hit, uint64_t address, uint8_t most_bytes) {
  if (!(most_bytes & TC_STR_SIZED)) return read_string(hit, address, most_bytes);
  const uint64_t length = address >> TC_ADDRESS_BITS;
  const uint64_t plain = address & ((uint64_t{1} << TC_ADDRESS_BITS) - 1);
  return read_string(hit, plain, std::min<uint64_t>(length, most_bytes - TC_STR_SIZED));
}

std::optional<uint64_t> argument_value(const MachineHit& hit, size_t index, bool is_signed) {
  auto value = hit.values.at(index);
  if (!value) return std::nullopt;
  return extended(*value, hit.arguments.at(index).size_bytes, is_signed);
}

MachineResult run(const ExprCode& code, const MachineHit& hit) { return Machine{code, hit}.run(); }

}  // namespace tracectl
