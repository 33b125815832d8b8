// SPDX-License-Identifier: BSD-2-Clause
#include "client/ui/ui.h"

#include "client/connection/ask.h"
#include "client/ui/terminal.h"
#include "client/verbs/all.h"
#include "client/verbs/shared_options.h"
#include "daemon/process/process.h"

namespace tracectl {
namespace {

class ShowInterface final : public Verb {
 public:
  void add_options(Grammar& grammar) override {
    grammar.option("-p,--pid", pid_, "the process; otherwise it is chosen from a list")
        .in_range(uint64_t{1}, uint64_t{INT32_MAX})
        .value_name("PID");
    add_budget(grammar, budget_);
    add_yes(grammar, yes_);
  }

  Status complete(const CommonOptions& common) override {
    if (common.json)
      return Error{Code::invalid,
                   "ui shows screens and has no JSON: tracectl top, count and watch have", "json"};
    return ok();
  }

  // Threads of the engine must not get the signals.
  int run(const CommonOptions& common) override {
    if (auto can = ui::can_show_screens(); !can) return fail(can.error());
    if (auto there = process_is_there(); !there) return fail(there.error());
    auto signals = ui::Signals::open();
    if (!signals) return fail(signals.error());
    ui::TracingOptions options{.most_added = most_added(yes_)};
    if (budget_) options.budget = *budget_;
    return with_backend(common, Backend::Needs::any_engine, [&](Backend& backend) -> int {
      return ui::run_ui(common, options, pid_, *signals, backend);
    });
  }

 private:
  Status process_is_there() const {
    if (!pid_) return ok();
    auto process = Process::open(static_cast<pid_t>(*pid_));
    if (process) return ok();
    Error error = process.error();
    error.field = "target";
    return error;
  }

  std::optional<uint64_t> pid_;
  std::optional<double> budget_;
  bool yes_ = false;
};

}  // namespace

void add_ui(Grammar grammar) {
  grammar.verb<ShowInterface>("ui", "choose a process and functions on screens, and see them live");
}

}  // namespace tracectl
