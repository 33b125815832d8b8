// SPDX-License-Identifier: BSD-2-Clause
#include <algorithm>
#include <cstdio>
#include <fstream>
#include <map>
#include <optional>
#include <string>

#include "client/connection/ask.h"
#include "client/connection/wait.h"
#include "client/options/duration.h"
#include "client/output/screen.h"
#include "client/render/top.h"
#include "client/target/target.h"
#include "client/verbs/all.h"
#include "client/verbs/interval.h"
#include "client/verbs/live_trace.h"
#include "client/verbs/shared_options.h"
#include "client/verbs/tracing_verb.h"

namespace tracectl {
namespace {

using namespace protocol;

constexpr const char* kAllFunctions = "uprobe::*";
constexpr double kUsualBudget = 10;

struct TopOptions {
  std::optional<uint64_t> iterations = {};  // tables; none: until ^C
  size_t rows = SIZE_MAX;                   // of a table
  std::string session = {};                 // the only one that is shown; empty: all
};

// Adds the current names of the processes; those that have ended get none.
void name_processes(TopTablePart& table) {
  std::map<int64_t, std::optional<std::string>> names;
  for (TopRowPart& row : table.rows) {
    if (!row.pid) continue;
    auto [known, is_new] = names.try_emplace(*row.pid);
    std::ifstream comm("/proc/" + std::to_string(*row.pid) + "/comm");
    if (std::string name; is_new && std::getline(comm, name)) known->second = name;
    row.comm = known->second;
  }
}

class TopTables {
 public:
  TopTables(const CommonOptions& common, TopOptions options, Backend& backend)
      : common_(common), options_(std::move(options)), backend_(backend) {}

  Status begin() {
    auto read = this->read();
    if (!read) return read.error();
    last_ = std::move(*read);
    return ok();
  }

  // Prints one more table. False: it was the last one.
  Result<bool> go_on() {
    auto read = this->read();
    if (!read) return read.error();
    TopTablePart table = top_table(last_, *read);
    last_ = std::move(*read);
    name_processes(table);
    if (common_.json)
      print(text_of(to_json(table)) + "\n");
    else
      print_in_place(top_text(table, options_.rows));
    return std::fflush(stdout) == 0 && (!options_.iterations || ++shown_ < *options_.iterations);
  }

 private:
  Result<TopReply> read() {
    auto reply = backend_.call(DaemonTop{});
    if (reply && !options_.session.empty())
      std::erase_if(reply->probes,
                    [&](const ProbeTotalsPart& part) { return part.session != options_.session; });
    return reply;
  }

  const CommonOptions& common_;
  const TopOptions options_;
  Backend& backend_;
  TopReply last_;
  uint64_t shown_ = 0;
};

// Of all sessions; with a target, of a session of its own, which counts the target's functions.
class ShowTop final : public TracingVerb {
 public:
  void add_options(Grammar& grammar) override {
    grammar.option("--interval", interval_, "between two tables: 1s, 500ms")
        .check(check_interval)
        .shows_default();
    grammar.option("--iterations", iterations_, "end after so many tables")
        .in_range(uint64_t{1}, UINT64_MAX);
    add_optional_probe_options(grammar, trace_.probes);
    add_run_options(grammar);
    grammar.starts_command();
  }

  Status complete(const CommonOptions& common) override {
    if (auto completed = TracingVerb::complete(common); !completed) return completed;
    if (chooses_target(trace_.probes)) {
      if (trace_.probes.patterns.empty()) trace_.probes.patterns = {kAllFunctions};
      if (!trace_.budget) trace_.budget = kUsualBudget;
    } else if (has_options_of_trace()) {
      return Error{
          Code::invalid,
          "without a target (-p, -x, -u, --cgroup, --container, --pod, -- COMMAND) top shows "
          "what sessions have armed, until ^C: give one, or leave PATTERN and the options of "
          "traces away"};
    }
    return ok();
  }

  int run(const CommonOptions& common) override {
    return chooses_target(trace_.probes) ? run_own(common) : run_all(common);
  }

 protected:
  std::string action() const override { return "count"; }

 private:
  bool has_options_of_trace() const {
    return !trace_.probes.patterns.empty() || trace_.seconds || trace_.budget || trace_.partial ||
           trace_.strict || trace_.yes || trace_.dry_run || trace_.end_command;
  }

  int run_all(const CommonOptions& common) const {
    auto waiter = Waiter::open();
    if (!waiter) return fail(waiter.error());
    return with_backend(common, Backend::Needs::daemon, [&](Backend& backend) -> int {
      TopTables tables(common, {iterations_, trace_.rows}, backend);
      if (auto begun = tables.begin(); !begun) return fail(begun.error());
      const auto ended = waiter->run(
          -1, [&] { return tables.go_on(); }, interval().every_ms());
      if (!ended) return fail(ended.error());
      return *ended == Ended::interrupted ? kInterrupted : kDone;
    });
  }

  int run_own(const CommonOptions& common) const {
    return with_trace(
        common, trace_, LiveTrace::Stream::none, [&](Backend& backend, LiveTrace& trace) -> int {
          TopTables tables(common, {iterations_, trace_.rows, trace.session()}, backend);
          if (auto begun = tables.begin(); !begun) return trace.failed(begun.error());
          Interval every = interval();
          const auto go_on = [&]() -> Result<bool> { return every.due() ? tables.go_on() : true; };
          const auto ended = trace.run({.go_on = go_on, .every_ms = every.every_ms()});
          if (const auto nothing = trace.why_nothing())
            return trace.status_without(ended, *nothing);
          return trace.status_of(ended);
        });
  }

  Interval interval() const { return Interval(*parse_duration(interval_)); }

  std::string interval_ = "1s";
  std::optional<uint64_t> iterations_;
};

}  // namespace

void add_top(Grammar grammar) {
  grammar.verb<ShowTop>(
      "top", "armed probes, or a process's functions, as they are hit, those that cost most first");
}

}  // namespace tracectl
