// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>

namespace tracectl {

inline constexpr unsigned kWordBytes = 8;

// Words in memory.
struct Words {
  uint64_t address = 0;
  unsigned count = 1;
};

// The addresses that a function's code forms in several steps (adrp and add, adrp and ldr), followed from instruction to
// instruction, in the order of the addresses, and along jumps ahead. A loop's own changes are not seen at its start, so
// that an address may be wrong.
class Addresses {
 public:
  // Before the instruction: what it finds.
  void arrive(uint64_t address);
  // After it.
  void pass(uint32_t word, uint64_t address);

  // The address in a register.
  std::optional<uint64_t> in(uint8_t number) const;
  // The word from which a register's value was loaded.
  std::optional<uint64_t> slot_of(uint8_t number) const;
  // What a load or store accesses.
  std::optional<Words> accessed(uint32_t word, uint64_t address) const;
  // The address that an instruction forms, except that of a page.
  std::optional<uint64_t> formed(uint32_t word, uint64_t address) const;

 private:
  static constexpr size_t kRegisters = 31;

  struct Value {
    bool is_loaded = false;  // from that address
    uint64_t address = 0;

    bool operator==(const Value&) const = default;
  };
  using State = std::array<std::optional<Value>, kRegisters>;

  const std::optional<Value>& value_in(uint8_t number) const;
  std::optional<Value> result_of(uint32_t word, uint64_t address) const;
  void forget_written(uint32_t word);
  void leave(uint32_t word, uint64_t address);
  void jump_to(uint64_t target);
  void meet(const State& other);

  State now_{};
  bool is_reached_ = true;           // from the instruction before
  std::map<uint64_t, State> ahead_;  // at the targets of jumps
  bool knows_all_jumps_ = true;
};

}  // namespace tracectl
