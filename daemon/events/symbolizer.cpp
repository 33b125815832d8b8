// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/events/symbolizer.h"

#include <algorithm>

#include "daemon/base/clock.h"

namespace tracectl {
namespace {

// Of the time at most one part in so many goes into looking at maps again: code that is made at run
// time is in no file, however often it is looked for.
constexpr uint64_t kLookShare = 20;

uint64_t innermost_of(const RawStack& raw) {
  return raw.addresses.empty() ? raw.registers.back() : raw.addresses.front();
}

bool leads_to_unknown(const ProcessImage& image, const Stack& stack) {
  return std::any_of(stack.frames.begin(), stack.frames.end(), [&](const Frame& frame) {
    return frame.module.empty() && !image.knows(frame.address);
  });
}

Stack unknown_stack(const RawStack& raw) {
  Stack stack{.by = raw.addresses.empty() ? StackBy::unwind_tables : StackBy::frame_pointers,
              .end = StackEnd::unknown_process,
              .frames = {}};
  if (!raw.addresses.empty()) stack.end = raw.end;
  for (const uint64_t address : raw.addresses) stack.frames.emplace_back().address = address;
  if (raw.addresses.empty()) stack.frames.emplace_back().address = innermost_of(raw);
  return stack;
}

}  // namespace

void Symbolizer::remember(pid_t pid) {
  const std::lock_guard lock(mutex_);
  const auto process = Process::open(pid);
  if (!process) return;
  if (const auto image = process->image()) look_at({pid, *image});
}

// What was known before, or none, where the process does not execute that program any more.
Symbolizer::Known* Symbolizer::look_at(const Executed& program) {
  const auto known = programs_.find(program);
  const auto kept = [&] { return known == programs_.end() ? nullptr : &known->second; };
  const uint64_t began_ns = boot_ns();
  auto process = Process::open(program.pid);
  if (!process) return kept();
  auto image = ProcessImage::of(*process, program.image, files_);
  // One that is about to end maps nothing any more.
  if (!image || image->is_empty()) return kept();
  make_room();
  Known& now = programs_[program];
  const uint64_t ended_ns = boot_ns();
  now = Known{std::make_shared<const Process>(std::move(*process)), std::move(*image), ended_ns,
              ended_ns - began_ns, ++uses_};
  return &now;
}

bool Symbolizer::may_look_again(const Known& known) const {
  return boot_ns() - known.looked_at_ns > kLookShare * known.look_cost_ns;
}

// What it maps is looked at first where it is not known, or where the code that was hit is not: then
// it has loaded more.
Symbolizer::Known* Symbolizer::find(const Executed& program, uint64_t address) {
  const auto known = programs_.find(program);
  if (known != programs_.end() && known->second.image.knows(address)) return &known->second;
  return look_at(program);
}

Stack Symbolizer::stack_of(pid_t pid, const RawStack& raw) {
  const std::lock_guard lock(mutex_);
  const Executed program{pid, raw.image};
  Known* known = find(program, innermost_of(raw));
  if (!known) return unknown_stack(raw);
  known->used = ++uses_;
  Stack stack = known->image.stack_of(raw);
  if (!leads_to_unknown(known->image, stack) || !may_look_again(*known)) return stack;
  known = look_at(program);
  return known ? known->image.stack_of(raw) : stack;
}

Stack Symbolizer::stack_of(const StackAddresses& of) {
  RawStack raw;
  raw.image = of.image;
  raw.end = of.end;
  raw.addresses = of.addresses;
  raw.begins_with_caller = of.begins_with_caller;
  if (raw.addresses.empty()) return {.by = StackBy::frame_pointers, .end = of.end, .frames = {}};
  return stack_of(of.pid, raw);
}

void Symbolizer::make_room() {
  if (programs_.size() < kMostKept) return;
  programs_.erase(
      std::min_element(programs_.begin(), programs_.end(),
                       [](const auto& a, const auto& b) { return a.second.used < b.second.used; }));
}

}  // namespace tracectl
