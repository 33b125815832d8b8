// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/object/aarch64/addresses.h"

#include <algorithm>

#include "daemon/object/aarch64/decoder.h"
#include "daemon/object/aarch64/encoding.h"

namespace tracectl {
namespace {

constexpr size_t kMostAhead = 4096;  // targets of jumps; behind more nothing is known

constexpr Encoding kLoadWord{0xffc00000, 0xf9400000};  // ldr xT, [base, #number]

unsigned words_of(unsigned bytes) { return std::max(1u, bytes / kWordBytes); }

// Of one register: 1 to 16 bytes.
unsigned bytes_of_single(uint32_t word) {
  const bool is_quad = is(word, kVector) && bits(word, 23, 1) != 0 && bits(word, 30, 2) == 0;
  return is_quad ? 16 : 1u << bits(word, 30, 2);
}

unsigned bytes_of_each_in_pair(uint32_t word) {
  return 4u << (is(word, kVector) ? bits(word, 30, 2) : bits(word, 31, 1));
}

struct Operand {
  int64_t offset;  // from the base register
  unsigned bytes;
};

// What a load or store with a base register and a number accesses.
std::optional<Operand> operand_of(uint32_t word) {
  if (is(word, kLoadUnsigned)) {
    const unsigned bytes = bytes_of_single(word);
    return Operand{int64_t{bits(word, 10, 12)} * bytes, bytes};
  }
  if (is(word, kLoadSigned)) {
    const bool is_post = bits(word, 10, 2) == 1;
    return Operand{is_post ? 0 : signed_bits(word, 12, 9), bytes_of_single(word)};
  }
  if (is(word, kLoadPair)) {
    const bool is_post = bits(word, 23, 2) == 1;
    const unsigned each = bytes_of_each_in_pair(word);
    return Operand{is_post ? 0 : signed_bits(word, 15, 7) * each, 2 * each};
  }
  return std::nullopt;
}

}  // namespace

void Addresses::arrive(uint64_t address) {
  const auto jumped = ahead_.find(address);
  if (jumped != ahead_.end()) {
    if (is_reached_)
      meet(jumped->second);
    else
      now_ = jumped->second;
    ahead_.erase(jumped);
  }
  is_reached_ = true;
  if (!knows_all_jumps_) now_ = {};
}

void Addresses::pass(uint32_t word, uint64_t address) {
  const auto result = result_of(word, address);
  forget_written(word);
  if (result && first_register(word) < kRegisters) now_[first_register(word)] = result;
  leave(word, address);
}

std::optional<uint64_t> Addresses::in(uint8_t number) const {
  const auto& value = value_in(number);
  return value && !value->is_loaded ? std::optional{value->address} : std::nullopt;
}

std::optional<uint64_t> Addresses::slot_of(uint8_t number) const {
  const auto& value = value_in(number);
  return value && value->is_loaded ? std::optional{value->address} : std::nullopt;
}

std::optional<Words> Addresses::accessed(uint32_t word, uint64_t address) const {
  if (is(word, kLiteral))
    return Words{address + static_cast<uint64_t>(signed_bits(word, 5, 19)) * kInstructionBytes};
  const auto operand = operand_of(word);
  const auto base = operand ? in(base_register(word)) : std::nullopt;
  if (!base) return std::nullopt;
  return Words{*base + static_cast<uint64_t>(operand->offset), words_of(operand->bytes)};
}

std::optional<uint64_t> Addresses::formed(uint32_t word, uint64_t address) const {
  if (is(word, kAdr)) return relative_address(word, address);
  const auto base = is(word, kAddNumber) ? in(base_register(word)) : std::nullopt;
  return base ? std::optional{*base + static_cast<uint64_t>(number_added(word))} : std::nullopt;
}

const std::optional<Addresses::Value>& Addresses::value_in(uint8_t number) const {
  static const std::optional<Value> kNone;
  return number < kRegisters ? now_[number] : kNone;
}

std::optional<Addresses::Value> Addresses::result_of(uint32_t word, uint64_t address) const {
  if (is(word, kMoveRegister)) return value_in(index_register(word));
  if (is(word, kLoadWord)) {
    const auto from = accessed(word, address);
    return from ? std::optional{Value{true, from->address}} : std::nullopt;
  }
  const auto formed_here =
      is(word, kAdrp) ? relative_address(word, address) : formed(word, address);
  return formed_here ? std::optional{Value{false, *formed_here}} : std::nullopt;
}

void Addresses::forget_written(uint32_t word) {
  const bool calls = is_call(word);
  for (uint8_t number = 0; number < kRegisters; ++number)
    if (now_[number] && (calls ? !survives_calls(number) : may_write(word, number)))
      now_[number].reset();
}

void Addresses::jump_to(uint64_t target) {
  knows_all_jumps_ &= ahead_.size() < kMostAhead;
  if (!knows_all_jumps_) {
    ahead_.clear();
    return;
  }
  const auto [at, is_first] = ahead_.try_emplace(target, now_);
  if (is_first) return;
  for (size_t i = 0; i < kRegisters; ++i)
    if (at->second[i] != now_[i]) at->second[i].reset();
}

// What is behind a return is reached from elsewhere, mostly with the registers of another path.
void Addresses::leave(uint32_t word, uint64_t address) {
  const auto distance = is_call(word) ? std::nullopt : relative_target(word);
  if (distance && *distance > 0) jump_to(address + static_cast<uint64_t>(*distance));
  const bool returns = is_return(word) || is_indirect_jump(word);
  if (returns) now_ = {};
  is_reached_ = !returns && !is(word, kB);
}

void Addresses::meet(const State& other) {
  for (size_t i = 0; i < kRegisters; ++i)
    if (now_[i] != other[i]) now_[i].reset();
}

}  // namespace tracectl
