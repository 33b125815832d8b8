// SPDX-License-Identifier: BSD-2-Clause
//
// Input: a reply of a process that reads files: if it is accepted, it must be true for some file. And a
// request: if it is understood, it is the one that was sent.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "daemon/sandbox/stack_wire.h"
#include "daemon/sandbox/wire.h"

using namespace tracectl;

namespace {

constexpr uint64_t kFileBytes = 1 << 20;
const std::string kPath = "/f";

void must(bool promise) {
  if (!promise) std::abort();
}

void check(const Argument& argument) {
  using Place = Argument::Place;
  must(argument.place <= Place::memory && argument.kind <= Argument::Kind::aggregate);
  if (argument.place == Place::unreadable) return;
  must(argument.size_bytes != 0 && argument.size_bytes <= 8);
  must(argument.base <= Register::rip || argument.base == Register::none);
  must(argument.index <= Register::r15 || argument.index == Register::none);
  must(argument.place != Place::in_register || argument.base <= Register::r15);
}

void check(const ReturnPlan& plan) {
  must(plan.reason <= WayReason::may_be_unwound && plan.way <= Way::exits);
  for (const ExitSite& exit : plan.exits)
    must(exit.offset < kFileBytes && exit.condition.value_or(0) < 16 && exit.jump_bytes < 16);
  if (plan.result) check(*plan.result);
}

void check(const Site& site) {
  must(site.offset < kFileBytes && site.semaphore < kFileBytes && site.args);
  must(site.words_below_caller.value_or(0) < 255);
  for (const Argument& argument : *site.args) check(argument);
  if (site.returns) check(*site.returns);
}

void check(const ProbeMatch& match) {
  for (const Probe& probe : match.probes) {
    must(probe.name.starts_with("uprobe:/f:") && !probe.sites.empty());
    for (const Site& site : probe.sites) check(site);
  }
  // Encoding it again gives the same bytes when decoded and encoded.
  const std::string said = wire::encode(Result<ProbeMatch>(match));
  const auto heard = wire::decode_match(said, {kPath, kFileBytes, ProbeKind::function});
  must(heard && wire::encode(heard) == said);
}

// ---- stacks ----

std::shared_ptr<const RawStack> copy_of(uint64_t rip) {
  auto copy = std::make_shared<RawStack>();
  copy->registers.back() = rip;
  copy->most_frames = 4;
  return copy;
}

const StackQuestion kCopies = Copies{copy_of(0x1000), copy_of(0x2000)};
const StackQuestion kAddresses = std::vector<CodeAddress>{{0x1000, false}, {0x2000, true}};

void check(const Unwound& unwound, const RawStack& copy) {
  must(!unwound.addresses.empty() && unwound.addresses.size() <= copy.most_frames);
  must(unwound.addresses.front() == copy.registers.back());
  must(unwound.stack_pointers.size() == unwound.addresses.size());
  must(unwound.end <= StackEnd::unknown_process);
}

void check(const Frames& frames, const CodeAddress& code) {
  for (const Frame& frame : frames) {
    must(frame.address == code.address && frame.module.empty());
    must(frame.inlined == (&frame != &frames.back()));
    must(frame.function.size() <= 16 << 10 && frame.file.size() <= 4 << 10);
  }
}

void check(const StackAnswer& answer, const StackQuestion& question) {
  if (const auto* copies = std::get_if<Copies>(&question)) {
    const auto& unwound = std::get<std::vector<Unwound>>(answer);
    must(unwound.size() == copies->size());
    for (size_t i = 0; i < unwound.size(); ++i) check(unwound[i], *(*copies)[i]);
  } else {
    const auto& addresses = std::get<std::vector<CodeAddress>>(question);
    const auto& frames = std::get<std::vector<Frames>>(answer);
    must(frames.size() == addresses.size());
    for (size_t i = 0; i < frames.size(); ++i) check(frames[i], addresses[i]);
  }
  const std::string said = wire::encode(answer);
  must(wire::decode_stack_answer(said, question).has_value());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  switch (data[0] % 8) {
    case 0:
      if (const auto match = wire::decode_match(bytes, {kPath, kFileBytes, ProbeKind::function}))
        check(*match);
      break;
    case 1:
      if (const auto question = wire::decode_question(bytes))
        must(wire::decode_question(wire::encode(*question)) == question);
      break;
    case 2: (void)wire::decode_facts(bytes); break;
    case 3: (void)wire::decode_function(bytes); break;
    case 4:
      if (const auto frame = wire::first_frame(bytes); frame && *frame)
        must(wire::size_of(**frame) <= bytes.size());
      break;
    case 5:
      if (const auto answer = wire::decode_stack_answer(bytes, kCopies)) check(*answer, kCopies);
      break;
    case 6:
      if (const auto answer = wire::decode_stack_answer(bytes, kAddresses))
        check(*answer, kAddresses);
      break;
    case 7:
      if (const auto question = wire::decode_stack_question(bytes))
        must(wire::decode_stack_question(wire::encode(*question)).has_value());
      if (const auto place = wire::decode_place(bytes))
        must(wire::encode(*place) == bytes || wire::decode_place(wire::encode(*place)));
      break;
  }
  return 0;
}
