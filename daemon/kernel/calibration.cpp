// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/kernel/calibration.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <memory>
#include <mutex>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "daemon/kernel/own_code.h"
#include "daemon/kernel/trial.h"
#include "daemon/kernel/uprobe_multi.h"
#include "daemon/model/cost.h"

namespace tracectl {
namespace {

// A batch of single steps takes about a ms.
constexpr uint64_t kCallsOfBatch = 40;
constexpr size_t kBatches = 11;

// By enum tc_cost_class, which is CostClass.
static_assert(static_cast<int>(CostClass::fast) == TC_COST_FAST &&
              static_cast<int>(CostClass::normal) == TC_COST_NORMAL &&
              static_cast<int>(CostClass::emulated) == TC_COST_EMULATED &&
              static_cast<int>(CostClass::slow) == TC_COST_SLOW);
constexpr std::array kFunctions{TrialFunction::nop5, TrialFunction::nop, TrialFunction::emulated,
                                TrialFunction::stepped};
static_assert(kFunctions.size() == TC_COST_CLASSES);

using PerClass = std::array<double, TC_COST_CLASSES>;

struct Times {
  PerClass call{};     // of a whole call
  PerClass between{};  // as the stopwatch sees it
};

double median(std::array<double, kBatches>& values) {
  std::sort(values.begin(), values.end());
  return values[kBatches / 2];
}

// Of a function that this machine does not have: 0.
std::optional<Times> time_calls(TrialChild& child, const CallWatch* watch) {
  Times times;
  for (size_t i = 0; i < kFunctions.size(); ++i) {
    if (!address_of(kFunctions[i])) continue;
    std::array<double, kBatches> calls{}, between{};
    if (!child.call(kFunctions[i], kCallsOfBatch))
      return std::nullopt;  // the first ones take longer
    for (size_t batch = 0; batch < kBatches; ++batch) {
      const auto before = watch ? watch->read() : CallWatch::Reading{};
      const auto outcome = child.call(kFunctions[i], kCallsOfBatch);
      const auto after = watch ? watch->read() : CallWatch::Reading{};
      if (!outcome) return std::nullopt;
      calls[batch] = static_cast<double>(outcome->took_ns) / static_cast<double>(kCallsOfBatch);
      if (after.count != before.count)
        between[batch] = static_cast<double>(after.total_ns - before.total_ns) /
                         static_cast<double>(after.count - before.count);
    }
    times.call[i] = median(calls);
    times.between[i] = median(between);
  }
  return times;
}

struct Links {
  std::vector<Emulator::Armed> emulated;
  std::vector<Fd> all;  // are closed first
};

// That waits for grace periods.
void disarm_in_background(Links links) {
  if (links.all.empty()) return;
  const auto held = std::make_shared<Links>(std::move(links));
  const auto disarm = [held] { *held = Links{}; };
  try {
    std::thread(disarm).detach();
  } catch (const std::system_error&) {  // no thread can be made
    disarm();
  }
}

bool arm(Links& links, TrialChild& child, int program, unsigned attach_type, bool at_exits) {
  std::vector<const void*> places;
  for (const TrialFunction function : kFunctions) {
    const TrialCode code = code_of(function);
    if (code.site) places.push_back(at_exits ? code.exit : code.site);
  }
  auto armed = arm_places(program, attach_type, places, child.pid());
  const bool is_armed = !armed.empty();
  for (Fd& link : armed) links.all.push_back(std::move(link));
  return is_armed;
}

// At the site that the emulator is tried on, or at all exits. To be armed before the watch.
bool arm_emulator(Links& links, TrialChild& child, Emulator* emulator, bool at_exits) {
  if (!emulator) return true;
  std::vector<Emulator::Place> places;
  Fd file;
  const auto add = [&](const void* place, Standing standing) {
    auto own = own_code(place);
    if (!own) return;
    places.push_back({own->offset, standing});
    file = std::move(own->file);
  };
  if (!at_exits)
    add(code_of(TrialFunction::emulated).site, Standing::within);
  else
    for (const TrialFunction function : kFunctions) add(code_of(function).exit, Standing::at_exit);
  links.emulated.push_back(emulator->arm(file.get(), child.pid(), places));
  return links.emulated.back() != nullptr;
}

uint32_t whole_ns(double ns) { return static_cast<uint32_t>(std::clamp(ns, 0.0, 1e6)); }

bool measure_exits(tc_hit_costs& costs, Links& links, Emulator* emulator) {
  auto child = TrialChild::start();
  const auto watch = CallWatch::for_exits();
  if (!child || !watch) return false;
  const auto plain = time_calls(*child, nullptr);
  if (!plain || !arm_emulator(links, *child, emulator, false) ||
      !arm(links, *child, watch->at_entry(), attach_type_at_uprobes(), false))
    return false;
  const auto entered = time_calls(*child, nullptr);
  if (!entered || !arm_emulator(links, *child, emulator, true) ||
      !arm(links, *child, watch->at_exit(), attach_type_at_uprobes(), true))
    return false;
  const auto left = time_calls(*child, &*watch);
  if (!left) return false;
  for (size_t i = 0; i < TC_COST_CLASSES; ++i) {
    costs.entry[i] = whole_ns(entered->call[i] - plain->call[i]);
    costs.between[TC_BY_EXITS][i] = whole_ns(left->between[i]);
  }
  costs.by_return = whole_ns(left->call[TC_COST_NORMAL] - entered->call[TC_COST_NORMAL]);
  costs.by_jump = costs.entry[TC_COST_NORMAL];
  return true;
}

bool measure_trampolines(tc_hit_costs& costs, Links& links, Emulator* emulator) {
  auto child = TrialChild::start();
  const auto watch = CallWatch::for_trampolines();
  if (!child || !watch) return false;
  const auto plain = time_calls(*child, nullptr);
  if (!plain || !arm_emulator(links, *child, emulator, false) ||
      !arm(links, *child, watch->at_entry(), kAttachUprobeSession, false))
    return false;
  const auto followed = time_calls(*child, &*watch);
  if (!followed) return false;
  for (size_t i = 0; i < TC_COST_CLASSES; ++i)
    costs.between[TC_BY_TRAMPOLINE][i] = whole_ns(followed->between[i]);
  costs.by_trampoline = whole_ns(followed->call[TC_COST_NORMAL] - plain->call[TC_COST_NORMAL] -
                                 costs.entry[TC_COST_NORMAL]);
  return true;
}

}  // namespace

tc_hit_costs hit_costs(Emulator* emulator) {
  using Clock = std::chrono::steady_clock;
  struct Measured {
    tc_hit_costs costs{};
    std::optional<Clock::time_point> at;
  };
  static std::mutex mutex;
  static std::array<Measured, 2> all;  // without an emulator, and with it
  const std::lock_guard lock(mutex);
  Measured& last = all[emulator != nullptr];
  if (last.at && Clock::now() - *last.at < kCalibrationHolds) return last.costs;
  tc_hit_costs costs{};
  Links links;
  const bool is_done = measure_exits(costs, links, emulator) &&
                       (!has_uprobe_session() || measure_trampolines(costs, links, emulator));
  disarm_in_background(std::move(links));
  if (is_done) last.costs = costs;
  // One that has failed is tried again at once only while there is none.
  if (is_done || last.at) last.at = Clock::now();
  return last.costs;
}

}  // namespace tracectl
