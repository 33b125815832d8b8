// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/kernel/bpf_switching.h"

#include <algorithm>

#include "bpf/tracer.skel.h"
#include "daemon/kernel/arm.h"
#include "daemon/kernel/breakpoints.h"
#include "daemon/kernel/perf_uprobes.h"

namespace tracectl {

BpfSwitching::BpfSwitching(tracer& skeleton, LongWork& long_work, const Shared& shared,
                           Chunks slots, Chunks hooks, std::span<tc_spec> specs, Counters& counters,
                           const Options& options)
    : Switching(long_work, shared),
      skeleton_(skeleton),
      slot_chunks_(std::move(slots)),
      hook_chunks_(std::move(hooks)),
      specs_(specs),
      counters_(counters),
      programs_(skeleton, options.first, options.sleeps, options.hit_costs),
      progress_(programs_.first()),
      fast_nops_(options.fast_nops),
      emulator_(options.emulator) {
  attend_to(0);  // a former daemon may have died during a switch
  for (size_t i = 0; i < slot_chunks_.count(); ++i) add_chunk(slot_chunks_.at<tc_slot>(i));
  for (size_t i = 0; i < hook_chunks_.count(); ++i) add_chunk(hook_chunks_.at<tc_hook>(i));
}

Result<std::span<tc_slot>> BpfSwitching::make_slots() {
  if (auto made = slot_chunks_.add(long_work()); !made) return made.error();
  return slot_chunks_.at<tc_slot>(slot_chunks_.count() - 1);
}

Result<std::span<tc_hook>> BpfSwitching::make_hooks() {
  if (auto made = hook_chunks_.add(long_work()); !made) return made.error();
  return hook_chunks_.at<tc_hook>(hook_chunks_.count() - 1);
}

Status BpfSwitching::save_in(DescriptorStore& store) {
  auto saved = slot_chunks_.save_in(store);
  if (saved) saved = hook_chunks_.save_in(store);
  return saved ? programs_.save_in(store) : saved;
}

Status BpfSwitching::prepare_arm(size_t places) {
  return has_uprobe_multi() ? ok() : can_open(places);
}

std::variant<Link, ArmFailure> BpfSwitching::arm(const ArmRequest& request) {
  std::optional<std::variant<Link, ArmFailure>> armed;
  long_work().run([&] { armed = arm_now(request); });
  return std::move(*armed);
}

std::variant<Link, ArmFailure> BpfSwitching::arm_now(const ArmRequest& request) {
  const bool any_nop5 = std::any_of(request.sites.begin(), request.sites.end(),
                                    [](const ArmedSite& site) { return site.nop5; });
  IgnoreHits ignore;
  if (any_nop5 && keeps_breakpoints()) ignore = [this](pid_t pid) { ignore_hits_by(pid); };
  const auto programs = programs_.of(request.way);
  if (!programs) return ArmFailure{programs.error(), {}};
  return arm_sites(long_work(), *programs, request, ignore, emulator_);
}

void BpfSwitching::ignore_hits_by(pid_t pid) {
  __atomic_store_n(&skeleton_.bss->ignored_pid, static_cast<uint32_t>(pid), __ATOMIC_SEQ_CST);
  attend_to(pid != 0 ? TC_IGNORE_PROCESS : 0);
}

const NopTrial& BpfSwitching::nop5() {
  if (!nop5_) nop5_ = try_nop(TrialFunction::nop5, std::nullopt);
  return *nop5_;
}

bool BpfSwitching::keeps_breakpoints() {
  return may_kill_filtered(nop5()) || (!fast_nops_ && may_kill_children(nop5()));
}

SiteCosts BpfSwitching::site_costs() {
  if (costs_) return *costs_;
  long_work().run([&] {
    const NopTrial ten = try_nop(TrialFunction::nop10, TrialFunction::nop10_red_zone);
    costs_ = costs_of(nop5(), ten, keeps_breakpoints());
    if (emulator_) costs_->emulates = emulator_->emulates();
  });
  return *costs_;
}

Status BpfSwitching::write_spec(uint32_t index, const tc_spec& spec) {
  auto made = counters_.make_tables_for(spec);
  if (made) specs_[index] = spec;
  return made;
}

Result<std::shared_ptr<const void>> BpfSwitching::follow_threads(ThreadFacts what) {
  auto& following = following_[static_cast<size_t>(what)];
  if (std::shared_ptr<const void> running = following.lock()) return running;
  Result<std::shared_ptr<const ThreadPrograms>> started = std::shared_ptr<const ThreadPrograms>{};
  long_work().run([&] { started = ThreadPrograms::start(what, skeleton_); });
  if (!started) return started.error();
  following = *started;
  return std::shared_ptr<const void>{*std::move(started)};
}

void BpfSwitching::wait_for_progress() {
  long_work().run([&] { progress_.wait(); });
}

}  // namespace tracectl
