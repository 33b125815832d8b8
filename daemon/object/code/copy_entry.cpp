// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/object/code/copy_entry.h"

#include <algorithm>
#include <utility>

namespace tracectl {
namespace {

bool continues_behind(Flow flow) {
  return flow == Flow::next || flow == Flow::call || flow == Flow::conditional ||
         flow == Flow::odd_branch;
}

// The steps that execution may go on with.
struct Ways {
  std::vector<size_t> to;
  bool all_known = true;
};

Ways ways_from(const Listing& listing, size_t index, const ReadFile& read) {
  Ways ways;
  const CodeStep& step = listing[index];
  if (continues_behind(step.flow))
    if (const auto behind = listing.behind(index)) ways.to.push_back(*behind);
  if (step.has_target && step.flow != Flow::call)
    if (const auto target = listing.at(step.target)) ways.to.push_back(*target);
  if (step.flow != Flow::indirect) return ways;
  const IndirectJump jump = indirect_jump(listing, index, read);
  ways.to.insert(ways.to.end(), jump.targets.begin(), jump.targets.end());
  ways.all_known = jump.leads == Leads::outside || !jump.targets.empty();
  return ways;
}

}  // namespace

// ---- the host ----

struct HostFlow::Impl {
  Listing listing;
  std::vector<Ways> ways;  // from each step
};

HostFlow::HostFlow(const FunctionCode& function, const ReadFile& read) {
  auto listing = Listing::of(function);
  if (!listing) return;
  impl_ = std::make_unique<Impl>(Impl{std::move(*listing), {}});
  for (size_t step = 0; step < impl_->listing.size(); ++step)
    impl_->ways.push_back(ways_from(impl_->listing, step, read));
}

HostFlow::~HostFlow() = default;

// ---- a copy in it ----

namespace {

using AllWays = std::vector<Ways>;  // by step

class Copy {
 public:
  Copy(const Listing& listing, const AllWays& ways, const CodeSpans& spans, size_t entry)
      : ways_(ways), entry_(entry), own_(listing.size()) {
    for (size_t step = 0; step < listing.size(); ++step)
      own_[step] = is_in(spans, listing[step].address);
  }

  std::string why_not(bool is_entry_said) const {
    if (!own_[entry_]) return "the instruction where it begins is not its own";
    if (auto why = why_reached_again(); !why.empty()) return why;
    if (auto why = why_entered_elsewhere(); !why.empty()) return why;
    return is_entry_said ? "" : why_begun_before();
  }

 private:
  static bool is_in(const CodeSpans& spans, uint64_t address) {
    return std::ranges::any_of(spans, [address](const CodeSpan& span) {
      return address >= span.begin && address < span.end;
    });
  }

  std::string why_reached_again() const {
    for (size_t step = 0; step < own_.size(); ++step) {
      if (!own_[step]) continue;
      const auto& to = ways_[step].to;
      if (std::ranges::find(to, entry_) != to.end())
        return "its own code leads back to the instruction where it begins";
      if (!ways_[step].all_known) return "it has a jump that may lead back to where it begins";
    }
    return "";
  }

  // Follows the ways from some steps, but not on from where the copy begins. `on_step` returns false to end.
  template <class OnStep> void follow(std::vector<size_t> open, OnStep on_step) const {
    std::vector<bool> reached(own_.size());
    for (const size_t step : open) reached[step] = true;
    while (!open.empty()) {
      const size_t step = open.back();
      open.pop_back();
      if (step == entry_) continue;
      if (!on_step(step)) return;
      for (const size_t to : ways_[step].to)
        if (!reached[to]) {
          reached[to] = true;
          open.push_back(to);
        }
    }
  }

  std::string why_entered_elsewhere() const {
    std::string why;
    follow({0}, [&](size_t step) {
      if (own_[step]) why = "code of it is executed without the instruction where it begins";
      if (!own_[step] && !ways_[step].all_known)
        why = "the function around it has a jump that may lead into it";
      return why.empty();
    });
    return why;
  }

  // Compilers execute some of a function's code before it is known whether it is called. Then the host decides, between
  // that and the rest of the copy.
  std::string why_begun_before() const {
    std::vector<size_t> decisions;
    follow(ways_[entry_].to, [&](size_t step) {
      if (!own_[step] && ways_[step].to.size() > 1) decisions.push_back(step);
      return decisions.size() < kMostDecisions;
    });
    if (decisions.size() == kMostDecisions) return "the function around it has too many branches";
    for (const size_t decision : decisions) {
      bool goes_on = false;
      follow(ways_[decision].to, [&](size_t step) {
        goes_on = own_[step];
        return !goes_on;
      });
      if (goes_on) return "where it begins it is not known yet whether the rest of it is executed";
    }
    return "";
  }

  static constexpr size_t kMostDecisions = 1000;

  const AllWays& ways_;
  const size_t entry_;
  std::vector<bool> own_;  // by step
};

}  // namespace

std::string HostFlow::why_not_entered_there(const CodeSpans& copy, uint64_t entry,
                                            bool is_entry_said) const {
  if (!impl_) return "the code around it cannot be followed";
  const auto step = impl_->listing.at(entry);
  if (!step) return "no instruction is known to begin there";
  return Copy(impl_->listing, impl_->ways, copy, *step).why_not(is_entry_said);
}

}  // namespace tracectl
