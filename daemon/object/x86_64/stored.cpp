// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/object/code/stored.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <vector>

#include "daemon/object/code/stack_height.h"
#include "daemon/object/code/step.h"
#include "daemon/object/x86_64/decoder.h"

namespace tracectl {
namespace {

constexpr uint64_t kMostEntryBytes = 4096;      // of code
constexpr uint64_t kMostStoredBytes = 1 << 16;  // that are followed
constexpr int64_t kReturnAddressBytes = 8;

bool writes_memory(const ZydisDecodedOperand& operand) {
  return operand.type == ZYDIS_OPERAND_TYPE_MEMORY && operand.mem.type == ZYDIS_MEMOP_TYPE_MEM &&
         (operand.actions & ZYDIS_OPERAND_ACTION_MASK_WRITE) != 0;
}

// What the operand, which writes memory, certainly writes of the frame; none if that is not known.
std::optional<FrameBytes> written_by(const ZydisDecodedOperand& operand,
                                     const StackHeight& height) {
  if (operand.mem.index != ZYDIS_REGISTER_NONE ||
      (operand.actions & ZYDIS_OPERAND_ACTION_WRITE) == 0)
    return std::nullopt;
  const auto base = operand.mem.base == ZYDIS_REGISTER_RSP   ? height.bytes
                    : operand.mem.base == ZYDIS_REGISTER_RBP ? height.frame
                                                             : std::nullopt;
  if (!base) return std::nullopt;
  return FrameBytes{operand.mem.disp.value - *base - kReturnAddressBytes, operand.size / 8u};
}

class StoredBytes {
 public:
  explicit StoredBytes(const FrameBytes& wanted) : wanted_(wanted), is_stored_(wanted.size) {}

  void add(const FrameBytes& written) {
    for (uint64_t i = 0; i < written.size; ++i) {
      const int64_t at = written.from_caller + static_cast<int64_t>(i) - wanted_.from_caller;
      if (at >= 0 && static_cast<uint64_t>(at) < wanted_.size)
        is_stored_[static_cast<size_t>(at)] = true;
    }
  }

  bool are_all() const { return std::ranges::all_of(is_stored_, std::identity{}); }
  bool are_none() const { return std::ranges::none_of(is_stored_, std::identity{}); }

 private:
  FrameBytes wanted_;
  std::vector<bool> is_stored_;
};

class EntryWalk {
 public:
  EntryWalk(std::span<const uint8_t> code, const FrameBytes& wanted)
      : code_(code), stored_(wanted) {}

  Stored run() {
    uint64_t at = 0;
    while (at < code_.size() && at < kMostEntryBytes) {
      const auto step = step_at(at, code_.subspan(at));
      if (!step || step->flow != Flow::next || step->end() > code_.size() || !take(*step)) break;
      at = step->end();
    }
    if (stored_.are_all()) return Stored::all;
    return at == code_.size() && is_all_known_ && stored_.are_none() ? Stored::none
                                                                     : Stored::unknown;
  }

 private:
  bool take(const CodeStep& step) {
    const auto operands = decode_operands(step.bytes);
    if (!operands) return false;
    const bool is_repeated = (operands->instruction.attributes & ZYDIS_ATTRIB_HAS_REP) != 0;
    const bool is_push = operands->instruction.meta.category == ZYDIS_CATEGORY_PUSH;
    for (const ZydisDecodedOperand& operand : operands->operands())
      if (writes_memory(operand) && !is_push) add(operand, !is_repeated && !step.moves_stack);
    height_ = after(step, height_);
    return true;
  }

  void add(const ZydisDecodedOperand& operand, bool is_plain) {
    const auto written = is_plain ? written_by(operand, height_) : std::nullopt;
    if (written) stored_.add(*written);
    is_all_known_ &= written.has_value();
  }

  std::span<const uint8_t> code_;
  StoredBytes stored_;
  StackHeight height_;
  bool is_all_known_ = true;  // whatever was written
};

}  // namespace

Stored stored_by(std::span<const uint8_t> code, const FrameBytes& wanted) {
  if (wanted.size == 0 || wanted.size > kMostStoredBytes) return Stored::unknown;
  return EntryWalk(code, wanted).run();
}

}  // namespace tracectl
