// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/object/return_planner.h"

#include <algorithm>

#include "daemon/object/code/emulation.h"
#include "daemon/object/code/machine.h"
#include "daemon/object/code/pushed.h"
#include "daemon/object/go_program.h"

namespace tracectl {
namespace {

constexpr uint64_t kMostPartBytes = 1 << 20;

// Why calls of Go code cannot be followed; ok if they can.
Status check_followed(GoCode code, const ElfFile& file) {
  if (code == GoCode::assembly)
    return Error{Code::unsupported,
                 "its returns cannot be seen: it is in Go's assembly, which does not say at its "
                 "returns which goroutine it runs in"};
  if (code == GoCode::unknown)
    return Error{Code::unsupported, "its returns cannot be seen: " + why_go_is_unknown(file)};
  return ok();
}

// Go's compiler jumps to the entry to repeat the check of the stack's size. The probe is behind that check.
void leave_out_jumps_to_entry(std::vector<Exit>& exits, uint64_t entry) {
  std::erase_if(exits, [entry](const Exit& exit) { return exit.target == entry; });
}

}  // namespace

ReadFile reader_of(const ElfFile& file) {
  return [&file](uint64_t address, std::span<uint8_t> into) {
    const auto offset = file.offset_of(address);
    if (!offset) return size_t{0};
    const auto bytes = file.read_at_most(*offset, into.size());
    if (!bytes) return size_t{0};
    std::ranges::copy(*bytes, into.begin());
    return bytes->size();
  };
}

ReturnPlanner::ReturnPlanner(const ObjectFile& object, const std::vector<Function>& all,
                             Returns choice, const SiteCosts& costs)
    : object_(object),
      file_(object.elf()),
      choice_(choice),
      costs_(costs),
      moves_stacks_(object.elf().go_functions() != nullptr) {
  for (const Function& function : all)
    if (function.name.find(".cold") == std::string::npos) starts_.insert(function.address);
}

Result<ReturnPlanner::Planned> ReturnPlanner::plan(const Function& function,
                                                   const FunctionCode& code,
                                                   const Placement& placed, Argument result) {
  const GoCode go = go_code_of(file_, function);
  if (auto followed = check_followed(go, file_); !followed) return followed.error();
  const bool takes_trampoline = choice_ == Returns::trampoline ||
                                (choice_ == Returns::automatic && !moves_stacks_ && is_leaf(code));
  auto planned = takes_trampoline
                     ? by_trampoline(code, placed,
                                     choice_ == Returns::trampoline ? WayReason::as_asked
                                                                    : WayReason::calls_nothing)
                 : go == GoCode::none ? by_exits(function, code, placed)
                                      : by_goroutine(code, placed);
  if (!planned) return planned;
  auto with_result = std::make_shared<ReturnPlan>(*planned->plan);
  with_result->result = std::move(result);
  with_result->moved_bytes = static_cast<uint32_t>(planned->placement.moved_bytes);
  planned->plan = std::move(with_result);
  return planned;
}

// The kernel takes the word on top of the stack as the return address.
Result<ReturnPlanner::Planned> ReturnPlanner::by_trampoline(const FunctionCode& code,
                                                            const Placement& placed,
                                                            WayReason reason) const {
  if (moves_stacks_)
    return Error{Code::unsupported,
                 "a Go program moves its stacks, and would be killed by a return trampoline"};
  Planned planned{placed, nullptr};
  if (pushed_before(code.body, placed.moved_bytes) != 0) {
    auto unmoved = place(code.body.bytes, 0, costs_);
    if (!unmoved) return unmoved.error();
    planned.placement = *unmoved;
  }
  planned.plan = std::make_shared<ReturnPlan>(ReturnPlan{.way = Way::trampoline, .reason = reason});
  return planned;
}

Result<ReturnPlanner::Planned> ReturnPlanner::by_exits(const Function& function,
                                                       const FunctionCode& code,
                                                       const Placement& placed) {
  if (is_called_without_frame(function.name))
    return Error{Code::unsupported,
                 "its returns cannot be told from those of its callers, which have no frame"};
  auto exits = exits_of(code);
  if (!exits)
    return Error{Code::unsupported,
                 "its returns cannot be seen: " + exits.error().message +
                     "; --returns trampoline sees them, and kills a program that leaves " +
                     function.name + " by an exception or switches stacks"};
  Planned planned{placed, nullptr};
  auto pushed = pushed_before(code.body, placed.moved_bytes);
  if (!pushed) {
    auto unmoved = place(code.body.bytes, 0, costs_);
    if (!unmoved) return unmoved.error();
    planned.placement = *unmoved;
    pushed = 0;
  }
  planned.plan = std::make_shared<ReturnPlan>(ReturnPlan{
      .way = Way::exits,
      .reason = choice_ == Returns::exits ? WayReason::as_asked : WayReason::may_be_unwound,
      .pushed_bytes = *pushed,
      .exits = std::move(*exits)});
  return planned;
}

// At the probe nothing is on the stack yet: go_entry().
Result<ReturnPlanner::Planned> ReturnPlanner::by_goroutine(const FunctionCode& code,
                                                           const Placement& placed) {
  auto exits = exits_of(code, placed.moved_bytes > 0);
  if (!exits)
    return Error{Code::unsupported, "its returns cannot be seen: " + exits.error().message};
  return Planned{placed, std::make_shared<ReturnPlan>(ReturnPlan{
                             .way = Way::exits,
                             .reason = choice_ == Returns::exits ? WayReason::as_asked
                                                                 : WayReason::may_be_unwound,
                             .by_goroutine = true,
                             .exits = std::move(*exits)})};
}

Result<std::vector<ExitSite>> ReturnPlanner::exits_of(const FunctionCode& code,
                                                      bool is_behind_check) {
  parts_.clear();
  auto exits = find_exits(
      code, {.read = reader_of(file_),
             .part_at = [this](uint64_t address) { return part_at(address); },
             .is_function = [this](uint64_t address) { return starts_.contains(address); }});
  if (!exits) return exits.error();
  if (is_behind_check) leave_out_jumps_to_entry(*exits, code.body.address);
  std::vector<ExitSite> sites;
  for (const Exit& exit : *exits) {
    auto site = site_of(exit, code.body.address);
    if (!site) return site.error();
    sites.push_back(*site);
  }
  return sites;
}

std::optional<CodeRange> ReturnPlanner::part_at(uint64_t address) {
  const auto range = object_.unwind_ranges().range_at(address);
  if (!range || range->size > kMostPartBytes) return std::nullopt;
  const auto [part, fresh] = parts_.try_emplace(range->address);
  if (fresh) {
    const auto offset = file_.offset_of(range->address);
    auto bytes = offset ? file_.read_at_most(*offset, range->size) : Error{};
    if (bytes) part->second = std::move(*bytes);
  }
  if (part->second.size() != range->size) return std::nullopt;
  return CodeRange{range->address, part->second};
}

// Where a function begins with the exit, another tracer may want its return: Standing::within.
CostClass ReturnPlanner::cost_of(const Exit& exit, uint64_t entry, uint64_t offset) const {
  if (exit.cost != CostClass::slow || costs_.emulates == Emulates::nothing) return exit.cost;
  const bool begins = exit.address == entry || starts_.contains(exit.address);
  const auto bytes = file_.read_at_most(offset, exit.length);
  const bool is_emulated =
      bytes &&
      emulated_form(*bytes, begins ? Standing::within : Standing::at_exit, costs_.emulates);
  return is_emulated ? CostClass::emulated : CostClass::slow;
}

Result<ExitSite> ReturnPlanner::site_of(const Exit& exit, uint64_t entry) const {
  const auto offset = file_.offset_of(exit.address);
  if (!offset) return Error{Code::unsupported, "an exit is not in the file"};
  if (exit.refusal)
    return Error{Code::unsupported,
                 std::string{"no probe can sit on one of its exits: "} + exit.refusal};
  const bool has_condition = exit.kind == ExitKind::conditional_tail_jump;
  return ExitSite{.offset = *offset,
                  .has_result = exit.kind == ExitKind::ret,
                  .condition = has_condition ? std::optional{exit.condition} : std::nullopt,
                  .jump_bytes = exit.target != 0 ? exit.length : uint8_t{0},
                  .cost = cost_of(exit, entry, *offset)};
}

}  // namespace tracectl
