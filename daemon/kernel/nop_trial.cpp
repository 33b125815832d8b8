// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/kernel/nop_trial.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <optional>
#include <string>

#include "daemon/kernel/machine.h"
#include "daemon/kernel/uprobe_multi.h"

namespace tracectl {
namespace {

constexpr uint64_t kHits = 10;  // the kernel writes the call at the first or second
constexpr uint64_t kRedZoneHits = 100;

// The child is a fork of this process, so the function is at the same address.
std::optional<uint8_t> first_byte(const TrialChild& child, TrialFunction function) {
  const Fd memory{
      ::open(("/proc/" + std::to_string(child.pid()) + "/mem").c_str(), O_RDONLY | O_CLOEXEC)};
  uint8_t byte = 0;
  const auto at = reinterpret_cast<off_t>(address_of(function));
  if (!memory || ::pread(memory.get(), &byte, 1, at) != 1) return std::nullopt;
  return byte;
}

// In a child of its own, because it may crash. A breakpoint that stayed would prove nothing of a call.
bool keeps_red_zone(const CountingProgram& program, TrialFunction function, bool becomes_call) {
  auto child = TrialChild::start();
  if (!child) return false;
  const Fd link = program.arm(function, child->pid());
  const auto outcome = link ? child->call(function, kRedZoneHits) : std::nullopt;
  if (!outcome || outcome->wrong != 0) return false;
  const auto byte = first_byte(*child, function);
  return byte && (*byte != first_byte_of_breakpoint()) == becomes_call;
}

CostClass class_of(const NopTrial& trial, bool may_become_call) {
  if (trial.becomes_call && may_become_call) return CostClass::fast;
  return trial.is_stepped ? CostClass::slow : CostClass::normal;
}

}  // namespace

NopTrial try_nop(TrialFunction nop, std::optional<TrialFunction> red_zone) {
  if (!address_of(nop)) return {.is_tried = true, .is_refused = true};  // this machine has none
  auto child = TrialChild::start();
  const auto program = CountingProgram::load(attach_type_at_uprobes());
  if (!child || !program) return {};
  const Fd link = program->arm(nop, child->pid());
  if (!link) return {.is_tried = errno == kNotSupported, .is_refused = errno == kNotSupported};
  if (!child->call(nop, kHits)) return {};
  const auto byte = first_byte(*child, nop);
  if (!byte) return {};
  const auto forked = child->call_in_fork(nop);
  const bool is_stepped = has_page_for_steps(child->pid());
  const auto filtered = child->call_under_filter(nop, kHits);
  const bool becomes_call = *byte != first_byte_of_breakpoint();
  return {.is_tried = true,
          .is_refused = false,
          .becomes_call = becomes_call,
          .is_stepped = is_stepped,
          .survives_fork = forked && forked->wrong == 0,
          .passes_seccomp = filtered && filtered->wrong == 0,
          .keeps_red_zone = red_zone && keeps_red_zone(*program, *red_zone, becomes_call)};
}

bool may_kill_children(const NopTrial& trial) {
  return !trial.is_tried || (trial.becomes_call && !trial.survives_fork);
}

bool may_kill_filtered(const NopTrial& trial) {
  return !trial.is_tried || (trial.becomes_call && !trial.passes_seccomp);
}

SiteCosts costs_of(const NopTrial& five, const NopTrial& ten, bool keeps_breakpoints) {
  SiteCosts costs{class_of(five, !keeps_breakpoints), std::nullopt};
  const bool is_taken = ten.is_tried && !ten.is_refused;
  if (is_taken && ten.survives_fork && ten.passes_seccomp && ten.keeps_red_zone)
    costs.ten = class_of(ten, true);
  return costs;
}

}  // namespace tracectl
