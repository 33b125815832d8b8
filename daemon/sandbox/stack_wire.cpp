// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/sandbox/stack_wire.h"

#include <algorithm>

#include "daemon/sandbox/wire_parts.h"

namespace tracectl::wire {
namespace {

constexpr size_t kMostRanges = 1 << 16;          // of one file
constexpr size_t kMostCopiedBytes = 64 << 10;    // of one stack
constexpr size_t kMostFunctionBytes = 16 << 10;  // of a name; longer ones are cut
constexpr size_t kMostSourceBytes = 4 << 10;
constexpr size_t kMostInlined = 64;  // frames at one address
constexpr binary::Bounds kStackBounds{.items = kMostAddressesAsked * (kMostInlined + 1),
                                      .text_bytes = kMostMessageBytes};
static_assert(kMostCopiedBytes <= kStackBounds.text_bytes);
static_assert(kMostCopiesAsked * (2 * kMostFrames + 1) <= kStackBounds.items);

// ---- questions ----

bool is_possible(const Copies& copies) {
  return copies.size() <= kMostCopiesAsked && std::ranges::all_of(copies, [](const auto& copy) {
           return copy && copy->most_frames >= 1 && copy->most_frames <= kMostFrames &&
                  copy->bytes.size() <= kMostCopiedBytes;
         });
}

bool is_possible(const std::vector<CodeAddress>& addresses) {
  return addresses.size() <= kMostAddressesAsked;
}

// ---- what is sent of answers ----

std::vector<Unwound> sendable(const std::vector<Unwound>& all) { return all; }

// The asker knows the modules.
tracectl::Frame sendable(tracectl::Frame frame) {
  frame.module.clear();
  frame.function.resize(std::min(frame.function.size(), kMostFunctionBytes));
  frame.file.resize(std::min(frame.file.size(), kMostSourceBytes));
  return frame;
}

std::vector<Frames> sendable(const std::vector<Frames>& all) {
  std::vector<Frames> sent;
  for (const Frames& frames : all) {
    Frames& of_one = sent.emplace_back();
    const size_t left_out = frames.size() - std::min(frames.size(), kMostInlined);
    for (size_t i = left_out; i < frames.size(); ++i) of_one.push_back(sendable(frames[i]));
  }
  return sent;
}

// ---- whether answers can be true ----

// It begins at the thread's instruction, and has at most the requested frames.
bool is_possible(const Unwound& unwound, const std::shared_ptr<const RawStack>& copy) {
  const size_t count = unwound.addresses.size();
  return count >= 1 && count <= copy->most_frames && unwound.stack_pointers.size() == count &&
         unwound.addresses.front() == copy->registers.back();
}

// All frames of one address share the file and the offset in it.
bool is_possible(const tracectl::Frame& frame, const tracectl::Frame& last,
                 const CodeAddress& code) {
  return frame.address == code.address && frame.module.empty() && !frame.size_bytes &&
         is_build_id(frame.build_id) && frame.build_id == last.build_id &&
         frame.offset == last.offset && frame.function.size() <= kMostFunctionBytes &&
         frame.file.size() <= kMostSourceBytes && frame.inlined == (&frame != &last);
}

// The last frame is that of the function itself, into which the others are inlined.
bool is_possible(const Frames& frames, const CodeAddress& code) {
  return frames.size() <= kMostInlined &&
         std::ranges::all_of(frames, [&](const tracectl::Frame& frame) {
           return is_possible(frame, frames.back(), code);
         });
}

// Exactly as many as were asked for.
template <class Answer, class Asked>
bool are_possible(const StackAnswer& answer, const std::vector<Asked>& asked) {
  const auto* all = std::get_if<std::vector<Answer>>(&answer);
  return all && std::ranges::equal(*all, asked, [](const Answer& one, const Asked& question) {
           return is_possible(one, question);
         });
}

bool is_possible(const StackAnswer& answer, const StackQuestion& question) {
  if (const auto* copies = std::get_if<Copies>(&question))
    return are_possible<Unwound>(answer, *copies);
  return are_possible<Frames>(answer, std::get<std::vector<CodeAddress>>(question));
}

}  // namespace

std::string encode(const LoadedPlace& place) { return binary::encode(place); }

std::optional<LoadedPlace> decode_place(std::string_view bytes) {
  auto place = binary::decode<LoadedPlace>(bytes, kBounds);
  if (!place || place->ranges.size() > kMostRanges) return std::nullopt;
  return place;
}

std::string encode(const StackQuestion& question) { return binary::encode(question); }

std::optional<StackQuestion> decode_stack_question(std::string_view bytes) {
  auto question = binary::decode<StackQuestion>(bytes, kStackBounds);
  const auto is_sound = [](const auto& asked) { return is_possible(asked); };
  if (!question || !std::visit(is_sound, *question)) return std::nullopt;
  return question;
}

std::string encode(const StackAnswer& answer) {
  return std::visit([](const auto& all) { return encode_data(StackAnswer(sendable(all))); },
                    answer);
}

Result<StackAnswer> decode_stack_answer(std::string_view answer, const StackQuestion& question) {
  return decode_data<StackAnswer>(
      answer, kStackBounds, [&](const StackAnswer& data) { return is_possible(data, question); });
}

}  // namespace tracectl::wire
