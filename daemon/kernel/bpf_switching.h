// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <array>
#include <functional>
#include <optional>
#include <span>

#include "daemon/base/descriptor_store.h"
#include "daemon/kernel/chunks.h"
#include "daemon/kernel/counters.h"
#include "daemon/kernel/emulator.h"
#include "daemon/kernel/nop_trial.h"
#include "daemon/kernel/programs.h"
#include "daemon/kernel/progress.h"
#include "daemon/kernel/switching.h"
#include "daemon/kernel/thread_programs.h"
#include "daemon/kernel/uprobe_multi.h"
#include "daemon/model/site_costs.h"

namespace tracectl {

class BpfSwitching final : public Switching {
 public:
  struct Options {
    Way first = Way::entry;  // the way that the loaded program serves
    bool sleeps = true;
    bool fast_nops = false;
    Emulator* emulator = nullptr;  // borrowed; null: instructions are left to the kernel
    std::function<tc_hit_costs()> hit_costs;
  };
  // All but the chunks are borrowed. `skeleton` is loaded; `counters` makes the tables of specs.
  BpfSwitching(tracer& skeleton, LongWork& long_work, const Shared& shared, Chunks slots,
               Chunks hooks, std::span<tc_spec> specs, Counters& counters, const Options& options);

  Status prepare_arm(size_t places) override;
  std::variant<Link, ArmFailure> arm(const ArmRequest& request) override;
  std::shared_ptr<const void> leave_to_kernel(int object_fd) override {
    return emulator_ ? emulator_->leave_to_kernel(object_fd) : nullptr;
  }
  bool disarms_one_by_one() const override { return !has_uprobe_multi(); }
  Status write_spec(uint32_t index, const tc_spec& spec) override;
  Result<std::shared_ptr<const void>> follow_threads(ThreadFacts what) override;
  void forget_numbers() override { counters_.forget_numbers(); }
  Status prepare_wait(Progress progress) override { return progress_.prepare(progress); }
  void wait_for_progress() override;

  // What the cost of a hit depends on. The first call tries it with nops.
  SiteCosts site_costs();
  // Whether probes on 5-byte nops are kept breakpoints, because the call would harm programs.
  bool keeps_breakpoints();
  Status save_in(DescriptorStore& store);

 private:
  Result<std::span<tc_slot>> make_slots() override;
  Result<std::span<tc_hook>> make_hooks() override;
  std::variant<Link, ArmFailure> arm_now(const ArmRequest& request);
  void ignore_hits_by(pid_t pid);
  const NopTrial& nop5();

  tracer& skeleton_;
  Chunks slot_chunks_, hook_chunks_;
  std::span<tc_spec> specs_;
  Counters& counters_;
  Programs programs_;
  ProgressWait progress_;
  std::array<std::weak_ptr<const ThreadPrograms>, 2> following_;  // by ThreadFacts
  const bool fast_nops_;
  Emulator* const emulator_;
  std::optional<NopTrial> nop5_;  // once it was tried
  std::optional<SiteCosts> costs_;
};

}  // namespace tracectl
