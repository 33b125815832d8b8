// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/object/code/stored.h"

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

// The distance of what the operand writes; none if it writes no memory of the frame.
std::optional<FrameBytes> written_by(const ZydisDecodedOperand& operand,
                                     const StackHeight& height) {
  const bool is_written = operand.type == ZYDIS_OPERAND_TYPE_MEMORY &&
                          operand.mem.type == ZYDIS_MEMOP_TYPE_MEM &&
                          (operand.actions & ZYDIS_OPERAND_ACTION_WRITE) != 0;
  if (!is_written || operand.mem.index != ZYDIS_REGISTER_NONE) return std::nullopt;
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

  bool are_all() const {
    for (const bool one : is_stored_)
      if (!one) return false;
    return true;
  }

 private:
  FrameBytes wanted_;
  std::vector<bool> is_stored_;
};

}  // namespace

bool has_stored(std::span<const uint8_t> code, const FrameBytes& wanted) {
  if (wanted.size == 0 || wanted.size > kMostStoredBytes) return false;
  StoredBytes stored(wanted);
  StackHeight height;
  for (uint64_t at = 0; at < code.size() && at < kMostEntryBytes;) {
    const auto step = step_at(at, code.subspan(at));
    if (!step || step->flow != Flow::next || step->end() > code.size()) break;
    const auto operands = decode_operands(step->bytes);
    if (!operands) break;
    // A push has been followed by its own height when it writes, and stores no parameter.
    const bool is_conditional = operands->instruction.attributes & ZYDIS_ATTRIB_HAS_REP;
    if (!step->moves_stack && !is_conditional)
      for (const ZydisDecodedOperand& operand : operands->operands())
        if (const auto written = written_by(operand, height)) stored.add(*written);
    height = after(*step, height);
    at = step->end();
  }
  return stored.are_all();
}

}  // namespace tracectl
