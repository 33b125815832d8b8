// SPDX-License-Identifier: BSD-2-Clause
#include "client/render/deepest.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "client/render/table.h"
#include "client/render/text.h"

namespace tracectl {
namespace {

// A line about the stack beyond the last frame.
std::string rest_text(const Stack& stack, std::optional<uint64_t> bytes) {
  if (stack.by == StackBy::frame_pointers)
    return "(found by frame pointers: what each frame takes is not known)\n";
  if (stack.end == StackEnd::outermost) return {};
  if (!bytes) return fmt::format("(further out: {})\n", reason_text(stack.end));
  return fmt::format("({} bytes further out, those of the last frame among them: {})\n", *bytes,
                     reason_text(stack.end));
}

std::optional<uint64_t> behind(std::optional<uint64_t> depth, std::optional<uint64_t> size_bytes) {
  if (!depth || !size_bytes) return std::nullopt;
  return *depth - std::min(*depth, *size_bytes);
}

}  // namespace

// An event that is not deeper than the last one of its tid is from another thread, which has reused the
// number.
DeepestStacks::Kept* DeepestStacks::room_for(const Event& event, uint64_t bytes) {
  const auto last = std::find_if(kept_.rbegin(), kept_.rend(),
                                 [&](const Kept& one) { return one.tid == event.tid; });
  if (last != kept_.rend() && last->bytes < bytes) return &*last;
  if (kept_.size() < kMostKept) return &kept_.emplace_back();
  left_out_ = true;
  const auto least = std::min_element(
      kept_.begin(), kept_.end(), [](const Kept& a, const Kept& b) { return a.bytes < b.bytes; });
  return least->bytes < bytes ? &*least : nullptr;
}

void DeepestStacks::add(const Event& event) {
  if (!event.stack || event.args.empty() || !event.args[0]) return;
  const uint64_t bytes = *event.args[0];
  if (Kept* room = room_for(event, bytes))
    *room = Kept{event.pid, event.tid, event.comm, bytes, event.stack};
}

// Inlined functions are part of the frame below them.
std::string DeepestStacks::text_of(const Kept& kept) {
  using Align = Table::Align;
  Table table({{"DEPTH", Align::right}, {"SIZE", Align::right}, {"FUNCTION", Align::left}});
  const bool has_sizes = kept.stack->by == StackBy::unwind_tables;
  // The depths of frames further out than one of unknown size are not known.
  std::optional<uint64_t> depth = kept.bytes, rest = depth;
  for (const Frame& frame : kept.stack->frames) {
    table.add({frame.inlined || !has_sizes || !depth ? "" : std::to_string(*depth),
               frame.size_bytes ? std::to_string(*frame.size_bytes) : "", to_string(frame)});
    if (frame.inlined) continue;
    rest = depth;
    depth = behind(depth, frame.size_bytes);
    if (frame.size_bytes) rest = depth;
  }
  return fmt::format("thread {} ({}) of process {}: {} bytes\n", kept.tid, kept.comm, kept.pid,
                     kept.bytes) +
         table.text() + rest_text(*kept.stack, rest);
}

std::string DeepestStacks::text(size_t most_threads) const {
  std::vector<const Kept*> order;
  for (const Kept& one : kept_) order.push_back(&one);
  std::stable_sort(order.begin(), order.end(),
                   [](const Kept* a, const Kept* b) { return a->bytes > b->bytes; });
  const size_t more = order.size() - std::min(order.size(), most_threads);
  order.resize(order.size() - more);
  std::string text;
  for (const Kept* one : order) text += (text.empty() ? "" : "\n") + text_of(*one);
  if (more) text += "\n" + plural(more, "more thread") + "\n";
  if (left_out_) text += fmt::format("\nmore than {} threads: these are the deepest\n", kMostKept);
  return text;
}

}  // namespace tracectl
