// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/object/code/exits.h"

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "daemon/object/code/instruction.h"
#include "daemon/object/code/listing.h"
#include "daemon/object/code/stack_height.h"

// Two passes over the code, each for what the other cannot see.
//
// The listing decodes from start to end, so it has all exits, also those of code that no jump leads
// to: the landing pads of C++ exceptions, which the unwinder enters by a table, and the cases of a
// switch whose table cannot be read.
//
// The descent follows the flow from the entry and sums up the bytes on the stack. A function exits
// with its return address on top of the stack. So the height distinguishes a tail jump from a jump
// to a part of the function that lies elsewhere and has no symbol (gcc's .cold parts, in stripped
// files), and a call through a pointer from an interpreter's jump to its next operation.
namespace tracectl {
namespace {

constexpr size_t kMostParts = 16;

using Jumps = std::map<size_t, IndirectJump>;  // by step

bool leaves(const CodeStep& step, const Listing& listing) {
  return step.has_target && step.flow != Flow::call && !listing.contains(step.target);
}

// A jump to the function's own entry, which is not a path within the function.
bool starts_again(const CodeStep& step, const Listing& listing) {
  return step.has_target && step.flow != Flow::call && step.target == listing[0].address;
}

bool goes_on(Flow flow) {
  return flow == Flow::next || flow == Flow::call || flow == Flow::conditional ||
         flow == Flow::odd_branch;
}

class Descent {
 public:
  Descent(const Listing& listing, const Jumps& jumps)
      : listing_(listing), jumps_(jumps), reached_(listing.size()), heights_(listing.size()) {}

  Status run() {
    arrive(0, StackHeight{});
    while (!open_.empty()) {
      size_t step = open_.back();
      open_.pop_back();
      if (auto left = leave(step); !left) return left;
    }
    return ok();
  }

  // The height before the step; nullopt if paths to it differ, or if none is known.
  std::optional<int64_t> height_at(size_t step) const {
    return reached_[step] ? heights_[step].bytes : std::nullopt;
  }

 private:
  void arrive(size_t step, const StackHeight& height) {
    StackHeight known = reached_[step] ? either(heights_[step], height) : height;
    if (reached_[step] && known == heights_[step]) return;
    reached_[step] = true;
    heights_[step] = known;
    open_.push_back(step);
  }

  Status leave(size_t index) {
    const CodeStep& step = listing_[index];
    StackHeight height = after(step, heights_[index]);
    if (step.has_target && step.flow != Flow::call && !starts_again(step, listing_))
      if (auto target = listing_.at(step.target)) arrive(*target, height);
    if (step.flow == Flow::indirect)
      for (size_t target : jumps_.at(index).targets) arrive(target, height);
    return goes_on(step.flow) ? go_on(index, height) : ok();
  }

  Status go_on(size_t index, const StackHeight& height) {
    if (auto behind = listing_.behind(index))
      arrive(*behind, height);
    else if (!is_behind_last_call(index))
      return no_exits(listing_[index].address, "its code runs on past its end");
    return ok();
  }

  // Compilers end code with a call that does not return, and put nops after it.
  bool is_behind_last_call(size_t index) const {
    while (index > 0 && listing_[index].flow == Flow::next && is_nop(listing_[index])) --index;
    return listing_[index].flow == Flow::call;
  }

  const Listing& listing_;
  const Jumps& jumps_;
  std::vector<bool> reached_;
  std::vector<StackHeight> heights_;
  std::vector<size_t> open_;  // steps whose height has changed
};

Jumps indirect_jumps(const Listing& listing, const ReadFile& read) {
  Jumps jumps;
  for (size_t i = 0; i < listing.size(); ++i)
    if (listing[i].flow == Flow::indirect) jumps.emplace(i, indirect_jump(listing, i, read));
  return jumps;
}

std::optional<Exit> exit_at(const CodeStep& step, ExitKind kind) {
  Exit exit{.address = step.address,
            .target = step.has_target ? step.target : 0,
            .kind = kind,
            .length = static_cast<uint8_t>(step.bytes.size())};
  if (kind == ExitKind::conditional_tail_jump) exit.condition = condition_of(step);
  auto instruction = decode_instruction(step.bytes);
  if (!instruction) return exit;
  exit.cost = instruction->cost;
  exit.refusal = instruction->refusal;
  return exit;
}

using MaybeExit = Result<std::optional<Exit>>;

bool is_function(const Surroundings& surroundings, uint64_t address) {
  return surroundings.is_function && surroundings.is_function(address);
}

// Compilers generate few conditional tail jumps, and many conditional jumps to .cold parts. Code
// that no known path reaches is mostly a landing pad, which continues in a .cold part.
MaybeExit direct_exit(const CodeStep& step, std::optional<int64_t> on_stack,
                      const Surroundings& surroundings) {
  if (step.flow == Flow::odd_branch)
    return no_exits(step.address, "it leaves by a branch on something else than the flags");
  if (on_stack.value_or(0) != 0)
    return no_exits(step.address, "it jumps to a part of itself that is not known");
  bool is_jump = step.flow == Flow::jump;
  if (!(is_jump && on_stack) && !is_function(surroundings, step.target))
    return no_exits(step.address, is_jump ? "it jumps to what may be a part of itself"
                                          : "it jumps on a condition to what may be a part of "
                                            "itself");
  return exit_at(step, is_jump ? ExitKind::tail_jump : ExitKind::conditional_tail_jump);
}

MaybeExit exit_to_entry(const CodeStep& step, std::optional<int64_t> on_stack) {
  if (step.flow == Flow::odd_branch)
    return no_exits(step.address,
                    "it jumps to its own entry by a branch on something else than the flags");
  if (on_stack.value_or(0) != 0)
    return no_exits(step.address, "it jumps to its own entry with something left on the stack");
  return exit_at(step,
                 step.flow == Flow::jump ? ExitKind::tail_jump : ExitKind::conditional_tail_jump);
}

MaybeExit indirect_exit(const CodeStep& step, const IndirectJump& jump,
                        std::optional<int64_t> height) {
  if (std::ranges::find(jump.targets, size_t{0}) != jump.targets.end())
    return no_exits(step.address, "it jumps to its own entry by a table, so not always");
  if (jump.leads == Leads::inside) return std::optional<Exit>{};
  if (jump.leads == Leads::outside && height == 0)
    return exit_at(step, ExitKind::indirect_tail_jump);
  return no_exits(step.address, "it jumps through a register or memory, and where to is unknown");
}

// A direct jump out of the function.
struct Leap {
  uint64_t target;
  std::optional<int64_t> on_stack;
};

// A function's code with the results of both passes.
class Looked {
 public:
  static Result<Looked> at(const FunctionCode& function, const Surroundings& surroundings) {
    auto listing = Listing::of(function);
    if (!listing) return listing.error();
    Looked looked{std::move(*listing), surroundings};
    if (auto ran = looked.descent_->run(); !ran) return ran.error();
    return looked;
  }

  Result<std::vector<Exit>> exits() const {
    std::vector<Exit> exits;
    for (size_t i = 0; i < listing_->size(); ++i) {
      auto exit = exit_of(i);
      if (!exit) return exit.error();
      if (*exit) exits.push_back(**exit);
    }
    // Parts may overlap: an unwind table's ranges need not be those of symbols.
    std::ranges::sort(exits, {}, &Exit::address);
    exits.erase(std::unique(exits.begin(), exits.end()), exits.end());
    return exits;
  }

  std::vector<Leap> leaps() const {
    std::vector<Leap> leaps;
    for (size_t i = 0; i < listing_->size(); ++i)
      if (leaves((*listing_)[i], *listing_))
        leaps.push_back({(*listing_)[i].target, descent_->height_at(i)});
    return leaps;
  }

  const Listing& listing() const { return *listing_; }

 private:
  Looked(Listing listing, const Surroundings& surroundings)
      : surroundings_(&surroundings),
        listing_(std::make_unique<Listing>(std::move(listing))),
        jumps_(std::make_unique<Jumps>(indirect_jumps(*listing_, surroundings.read))),
        descent_(std::make_unique<Descent>(*listing_, *jumps_)) {}

  MaybeExit exit_of(size_t index) const {
    const CodeStep& step = (*listing_)[index];
    auto height = descent_->height_at(index);
    if (step.flow == Flow::ret) return exit_at(step, ExitKind::ret);
    if (step.flow == Flow::far_away) return no_exits(step.address, "it leaves for another segment");
    if (step.flow == Flow::indirect) return indirect_exit(step, jumps_->at(index), height);
    if (starts_again(step, *listing_)) return exit_to_entry(step, height);
    if (leaves(step, *listing_)) return direct_exit(step, height, *surroundings_);
    return std::optional<Exit>{};
  }

  const Surroundings* surroundings_;
  std::unique_ptr<Listing> listing_;
  std::unique_ptr<Jumps> jumps_;
  std::unique_ptr<Descent> descent_;
};

bool leads_back(const CodeStep& step, const Listing& function) {
  auto to = step.has_target ? function.at(step.target) : std::nullopt;
  return to && *to != 0;
}

bool leaves_for_good(const CodeStep& step, const Listing& part, const Listing& function) {
  if (step.flow == Flow::ret || step.flow == Flow::indirect || step.flow == Flow::far_away)
    return true;
  return leaves(step, part) && !function.contains(step.target);
}

// Code that jumps into the middle of a function belongs to it. If code never returns, a jump to it
// is not an exit, whatever function it belongs to.
bool is_as_good_as_part(const CodeRange& range, const Listing& function) {
  auto part = Listing::of({.body = range, .extent = Extent::whole});
  if (!part) return false;
  const auto& steps = part->steps();
  return std::ranges::any_of(steps,
                             [&](const CodeStep& step) { return leads_back(step, function); }) ||
         std::ranges::none_of(
             steps, [&](const CodeStep& step) { return leaves_for_good(step, *part, function); });
}

// The part of the function that a jump out of it leads to, if that part was not given.
std::optional<CodeRange> missing_part(const Looked& looked, const Surroundings& surroundings) {
  for (const Leap& leap : looked.leaps()) {
    auto part = surroundings.part_at(leap.target);
    if (!part || leap.target - part->address >= part->bytes.size()) continue;
    if (leap.on_stack.value_or(0) != 0) return part;
    if (!is_function(surroundings, leap.target) && is_as_good_as_part(*part, looked.listing()))
      return part;
  }
  return std::nullopt;
}

}  // namespace

const char* name_of(ExitKind kind) {
  switch (kind) {
    case ExitKind::ret: return "ret";
    case ExitKind::tail_jump: return "tail jump";
    case ExitKind::conditional_tail_jump: return "conditional tail jump";
    case ExitKind::indirect_tail_jump: return "indirect tail jump";
  }
  return "";
}

Result<std::vector<Exit>> find_exits(const FunctionCode& function,
                                     const Surroundings& surroundings) {
  if (function.extent == Extent::unknown || function.body.bytes.empty())
    return no_exits(function.body.address, "its symbol does not say how long it is");
  std::vector<CodeRange> parts{function.others.begin(), function.others.end()};
  for (;;) {
    auto looked = Looked::at({function.body, function.extent, parts}, surroundings);
    if (!looked) return looked.error();
    bool may_ask = surroundings.part_at && parts.size() < kMostParts;
    auto part = may_ask ? missing_part(*looked, surroundings) : std::nullopt;
    if (!part) return looked->exits();
    parts.push_back(*part);
  }
}

}  // namespace tracectl
