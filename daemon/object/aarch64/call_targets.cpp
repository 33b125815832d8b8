// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/object/code/call_targets.h"

#include <algorithm>
#include <utility>

#include "daemon/object/aarch64/addresses.h"
#include "daemon/object/aarch64/decoder.h"
#include "daemon/object/aarch64/encoding.h"
#include "daemon/object/code/sorted.h"

// No constants: compilers form the addresses of a file that is linked to run at a fixed address as in any other.
namespace tracectl {
namespace {

class Reading {
 public:
  explicit Reading(const FunctionCode& function) : function_(function) {}

  CallTargets run() {
    read(function_.body);
    for (const CodeRange& other : function_.others) read(other);
    for (auto* list : {&found_.called, &found_.slots, &found_.loaded, &found_.referred})
      sort_once(*list);
    return std::move(found_);
  }

 private:
  void read(const CodeRange& range) {
    for (size_t position = 0; position < range.bytes.size(); position += kInstructionBytes) {
      const auto word = instruction_in(range.bytes.subspan(position));
      const uint64_t address = range.address + position;
      registers_.arrive(address);
      if (!word) continue;
      add(*word, address);
      registers_.pass(*word, address);
    }
  }

  void add(uint32_t word, uint64_t address) {
    if (const auto distance = relative_target(word))
      add_outside(address + static_cast<uint64_t>(*distance), found_.called);
    else if (is_call(word) || is_indirect_jump(word))
      add_indirect(word);
    else
      add_operands(word, address);
  }

  void add_indirect(uint32_t word) {
    const uint8_t target = base_register(word);
    if (const auto slot = registers_.slot_of(target))
      found_.slots.push_back(*slot);
    else if (const auto known = registers_.in(target))
      add_outside(*known, found_.called);
    else if (is_call(word))
      found_.calls_unknown = true;
  }

  void add_operands(uint32_t word, uint64_t address) {
    if (const auto formed = registers_.formed(word, address)) add_outside(*formed, found_.referred);
    const auto words = registers_.accessed(word, address);
    if (!words) return;
    for (unsigned i = 0; i < words->count; ++i)
      add_outside(words->address + i * kWordBytes, found_.loaded);
  }

  void add_outside(uint64_t address, std::vector<uint64_t>& list) {
    if (!function_.contains(address)) list.push_back(address);
  }

  const FunctionCode& function_;
  CallTargets found_;
  Addresses registers_;
};

}  // namespace

CallTargets call_targets(const FunctionCode& function) { return Reading{function}.run(); }

// adrp x16, ldr x17, add x16, br x17; with bti c before them, and autia1716 before the last, for those extensions.
std::optional<uint64_t> slot_of_stub(const CodeRange& code) {
  constexpr size_t kMostInstructions = 6;
  Addresses registers;
  for (size_t i = 0; i < kMostInstructions; ++i) {
    const size_t position = i * kInstructionBytes;
    if (position >= code.bytes.size()) return std::nullopt;
    const auto word = instruction_in(code.bytes.subspan(position));
    if (!word || relative_target(*word) || is_call(*word) || is_return(*word)) return std::nullopt;
    if (is_indirect_jump(*word)) return registers.slot_of(base_register(*word));
    if (!is(*word, kHint)) registers.pass(*word, code.address + position);
  }
  return std::nullopt;
}

}  // namespace tracectl
