// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/switching/specs.h"

#include <algorithm>

#include "daemon/spec/names.h"

namespace tracectl {

namespace {

void fill_in(const SessionNumbers& numbers, tc_spec& spec) {
  spec.session = numbers.session;
  spec.tag = numbers.tag;
  spec.trigger_count = static_cast<uint32_t>(numbers.triggers.size());
  std::copy(numbers.triggers.begin(), numbers.triggers.end(), spec.triggers);
}

}  // namespace

Result<SpecPtr> Specs::install(const std::shared_ptr<const Setting>& setting,
                               const Arguments& arguments, const Argument* result,
                               const SessionNumbers& numbers, const PairSide* side) {
  if (!side && !needs_assembly(setting->spec, arguments)) return SpecPtr{};
  const Spec spec = side ? spec_of_sides(*setting, side->sides) : setting->spec;
  auto from =
      side ? pair_compiled_from(spec, *side, arguments) : compiled_from(spec, arguments, result);
  if (!from) return from.error();
  std::pair<const Setting*, std::string> key{setting.get(), std::move(*from)};
  const auto known = known_.find(key);
  if (known != known_.end())
    if (SpecPtr installed = known->second.spec.lock()) return installed;
  auto made = make(spec, arguments, result, numbers, side);
  if (!made) return made.error();
  if (known_.size() >= kMostKnown) known_.clear();
  known_[std::move(key)] = {setting, *made};
  return *made;
}

void Specs::restore(const std::vector<uint32_t>& places) {
  saved_places_ = places;
  places_->restore(places);
}

void Specs::end_restoring() {
  for (const uint32_t place : std::exchange(saved_places_, {})) places_->give_back(place);
}

Result<SpecPtr> Specs::make(const Spec& spec, const Arguments& arguments, const Argument* result,
                            const SessionNumbers& numbers, const PairSide* side) {
  auto assembled = assemble(spec, arguments, result, side);
  if (!assembled) return assembled.error();
  fill_in(numbers, (*assembled)->kernel);
  forget_numbers_if_unused();
  with_numbers_.reserve(with_numbers_.size() + 1);
  if (places_->used() + 1 == places_->limit())
    return Error{Code::exhausted, "the table of specs is full (" +
                                      std::to_string(places_->limit()) +
                                      "): remove settings of this or another session"};
  const bool is_numbered = (*assembled)->has_numbered_keys;
  auto follows = follow_threads((*assembled)->kernel);
  if (!follows) return follows.error();
  SpecPtr made =
      std::make_shared<const InstalledSpec>(places_, std::move(*assembled), *std::move(follows));
  if (auto written = switching_.write_spec(made->place(), (*made)->kernel); !written)
    return written.error();
  if (is_numbered) with_numbers_.push_back(made);
  return made;
}

Result<FollowsThreads> Specs::follow_threads(const tc_spec& spec) {
  FollowsThreads follows;
  const auto follow = [&](ThreadFacts what) -> Status {
    auto started = switching_.follow_threads(what);
    if (!started) return started.error();
    follows.push_back(*std::move(started));
    return ok();
  };
  if (spec.blocked || spec.at_return & TC_SPLIT)
    if (auto followed = follow(ThreadFacts::off_cpu); !followed) return followed.error();
  if (spec.at_return & TC_SYSCALLS)
    if (auto followed = follow(ThreadFacts::system_calls); !followed) return followed.error();
  return follows;
}

// The numbers of strings and stacks are not freed one by one: all are dropped when no key has any.
void Specs::forget_numbers_if_unused() {
  if (with_numbers_.empty()) return;
  std::erase_if(with_numbers_, [](const auto& spec) { return spec.expired(); });
  if (with_numbers_.empty()) switching_.forget_numbers();
}

}  // namespace tracectl
