// SPDX-License-Identifier: BSD-2-Clause
#include "client/verbs/tracing.h"

#include "client/options/duration.h"
#include "client/options/size.h"
#include "client/verbs/all.h"
#include "daemon/model/stack.h"
#include "daemon/protocol/messages/recordings.h"

namespace tracectl {

using protocol::RotatePart;

// ---- options that verbs share ----

void add_target_options(Grammar& grammar, ProbeOptions& probes) {
  grammar.option("-p,--pid", probes.pids, "a process, repeatable").one_at_a_time();
  grammar
      .option("-x,--executable", probes.executables,
              "every process that runs this file, now or later")
      .one_at_a_time();
  grammar.option("-u,--unit", probes.units, "every process of this unit of systemd's, now or later")
      .one_at_a_time();
  grammar
      .option("--cgroup", probes.cgroups, "every process in this cgroup or below it, now or later")
      .one_at_a_time();
  grammar.flag("-f,--follow", probes.follow, "children forked later, too, and theirs");
  grammar.flag("--first-child", probes.first_child, "the first child forked later, too");
  grammar.flag("-a,--all", probes.all, "every process that maps the object");
  const Option global =
      grammar.flag("--global", probes.global, "only functions in the dynamic symbol table");
  grammar.flag("--local", probes.local, "every function, which is the default").excludes(global);
}

void add_probe_options(Grammar& grammar, ProbeOptions& probes) {
  grammar
      .option("PATTERN", probes.patterns,
              "uprobe:OBJECT:FUNCTION[+OFFSET] or usdt:OBJECT:PROVIDER:NAME")
      .required();
  add_target_options(grammar, probes);
}

void add_do(Grammar& grammar, std::string& action) {
  grammar.option("--do", action, "what a hit does: event, event(arg0), 'count by tid', hist(arg1)");
}

void add_when(Grammar& grammar, std::optional<std::string>& when) {
  grammar.option("--when", when, "only hits for which this holds: 'arg1 > 4096 && pid != 7'");
}

Option add_keep_if(Grammar& grammar, std::optional<std::string>& keep_if) {
  return grammar.option("--keep-if", keep_if,
                        "of a graph: only calls for which this holds at their end: 'duration > "
                        "1000000 || thrown'");
}

void add_returns(Grammar& grammar, std::string& returns) {
  grammar.option("--returns", returns,
                 "how returns are seen: auto, exits, or trampoline, which kills a program that "
                 "leaves a call by an exception");
}

void add_pair_options(Grammar& grammar, LatencyOptions& latency) {
  grammar.option("--by", latency.by,
                 "what both hits have in common: tid, which is the default, arg0, 'str(arg0)'");
  grammar.option("--slowest", latency.slowest, "how many of the longest times are listed: 5")
      .in_range(0, 32);
}

void add_from(Grammar& grammar, LatencyOptions& latency) {
  grammar.option("--from", latency.from,
                 "measure the time from a hit of this pattern to one of PATTERN");
  add_pair_options(grammar, latency);
}

void add_budget(Grammar& grammar, std::optional<double>& budget) {
  grammar
      .option("--budget", budget,
              "leave out probes while all hits together cost more than this: percent of a CPU")
      .value_name("PERCENT")
      .positive();
}

Option add_rows(Grammar& grammar, size_t& rows) {
  return grammar
      .option("-n,--rows", rows, "how many rows of a table are printed, first those with most")
      .not_negative();
}

Option RecordOptions::add_to(Grammar& grammar) {
  const Option file = grammar.option("-o,--output", to.file, "record to this trace file");
  grammar.flag("--compress", to.compress, "its blocks, by zstd").needs(file);
  const Option rotate =
      grammar
          .option("--rotate", rotate_size,
                  "record to numbered files, out.0.tct and so on; the next begins at this size: "
                  "64M, 1G")
          .value_name("SIZE")
          .needs(file)
          .check([](const std::string& text) { return check_size(text, RotatePart::kLeastBytes); });
  grammar
      .option("--keep", to.keep, "number of those files, after which the oldest is overwritten: 4")
      .needs(rotate)
      .in_range(RotatePart::kLeastFiles, RotatePart::kMostFiles);
  return file;
}

std::optional<RecordTo> RecordOptions::chosen() const {
  if (to.file.empty()) return std::nullopt;
  RecordTo chosen = to;
  chosen.rotate_bytes = parse_size(rotate_size);
  return chosen;
}

// ---- what verbs that trace have in common ----

void TracingVerb::add_run_options(Grammar& grammar) {
  grammar.option("--for", duration_, "end after this time: 10s, 500ms, 2m").check(check_duration);
  add_rows(grammar, trace_.rows);
  add_budget(grammar, trace_.budget);
  grammar.flag("--partial", trace_.partial, "arm the rest where some sites are refused");
  grammar.flag("--dry-run", trace_.dry_run, "say what would be armed, and arm nothing");
}

void TracingVerb::add_how(Grammar& grammar) {
  add_when(grammar, trace_.when);
  add_run_options(grammar);
}

void TracingVerb::add_trace_options(Grammar& grammar) {
  add_probe_options(grammar, trace_.probes);
  add_returns(grammar, trace_.returns);
  add_how(grammar);
}

void TracingVerb::add_by(Grammar& grammar) {
  grammar.option("--by", by_, "a row for each value of these: pid,comm or 'str(arg0)'");
}

void TracingVerb::add_folded(Grammar& grammar, const std::string& help) {
  grammar.flag("--folded", trace_.folded, help);
}

Status TracingVerb::complete(const CommonOptions&) {
  trace_.seconds = parse_duration(duration_);
  std::string& action = trace_.action;
  action = this->action();
  if (by_) action += " by " + *by_;
  if (action.empty()) action = trace_.folded ? "stack" : "event";
  if (trace_.folded && action.find("stack") == std::string::npos)
    return Error{Code::invalid, "--folded prints stacks, and \"" + action +
                                    "\" takes none: leave it away, or put stack into it"};
  return ok();
}

// ---- verbs ----

namespace {

class List final : public Verb {
 public:
  void add_options(Grammar& grammar) override { add_probe_options(grammar, probes_); }
  std::vector<std::string>* command() override { return &probes_.command; }
  int run(const CommonOptions& common) override { return run_list(common, probes_); }

 private:
  ProbeOptions probes_;
};

class Trace final : public TracingVerb {
 public:
  void add_options(Grammar& grammar) override {
    add_trace_options(grammar);
    add_do(grammar, trace_.action);
    add_from(grammar, trace_.latency);
    add_folded(grammar, "count the stacks, and print them at the end as flame graphs want them");
    grammar.starts_command();
  }
  int run(const CommonOptions& common) override { return run_trace(common, trace_); }
};

class Count final : public TracingVerb {
 public:
  void add_options(Grammar& grammar) override {
    add_trace_options(grammar);
    add_by(grammar);
    add_folded(grammar, "count by stack, and print the stacks as flame graphs want them");
    grammar.starts_command();
  }
  Status complete(const CommonOptions& common) override {
    if (trace_.folded && !by_) by_ = "stack";
    return TracingVerb::complete(common);
  }
  int run(const CommonOptions& common) override { return run_count(common, trace_); }

 protected:
  std::string action() const override { return "count"; }
};

class Histogram final : public TracingVerb {
 public:
  void add_options(Grammar& grammar) override {
    add_trace_options(grammar);
    grammar.option("--of", of_, "the value: arg2, 'arg1 - arg0', 'u32(arg0 + 8)'").required();
    add_by(grammar);
    grammar.starts_command();
  }
  int run(const CommonOptions& common) override { return run_count(common, trace_); }

 protected:
  std::string action() const override { return "hist(" + of_ + ")"; }

 private:
  std::string of_;
};

class Time final : public TracingVerb {
 public:
  void add_options(Grammar& grammar) override {
    add_trace_options(grammar);
    add_by(grammar);
    grammar.starts_command();
  }
  int run(const CommonOptions& common) override { return run_count(common, trace_); }

 protected:
  std::string action() const override { return "time"; }
};

class Latency final : public TracingVerb {
 public:
  void add_options(Grammar& grammar) override {
    grammar.option("--from", trace_.latency.from, "the pattern at which the time begins")
        .required();
    grammar.option("--to", trace_.probes.patterns, "the pattern at which it ends")
        .required()
        .expects(1, 1);
    add_pair_options(grammar, trace_.latency);
    grammar.option("--per", by_, "a row for each value of these, known at the end: 'str(arg0)'");
    add_target_options(grammar, trace_.probes);
    add_how(grammar);
    grammar.starts_command();
  }
  int run(const CommonOptions& common) override { return run_count(common, trace_); }

 protected:
  std::string action() const override { return "time"; }
};

class Stacks final : public TracingVerb {
 public:
  void add_options(Grammar& grammar) override {
    add_probe_options(grammar, trace_.probes);
    grammar.flag("--deepest", trace_.deepest,
                 "at the end, of each thread the deepest stack of all hits");
    add_how(grammar);
    grammar.starts_command();
  }
  Status complete(const CommonOptions& common) override {
    if (trace_.deepest) return TracingVerb::complete(common);
    return Error{Code::invalid,
                 "stacks shows the deepest only: add --deepest; count PATTERN --by stack counts "
                 "all of them"};
  }
  int run(const CommonOptions& common) override { return run_trace(common, trace_); }

 protected:
  std::string action() const override {
    return "deepest, event(stack_bytes), stack(" + std::to_string(kMostFrames) + ")";
  }
};

class Info final : public Verb {
 public:
  void add_options(Grammar& grammar) override {
    grammar.option("PATTERN", info_.pattern, "compared with the names of armed probes").required();
    grammar.flag("--global", info_.global, "only functions in the dynamic symbol table");
    grammar.flag("--generations", info_.generations,
                 "what each of the two copies of the sites' settings has");
  }
  int run(const CommonOptions& common) override { return run_info(common, info_); }

 private:
  InfoOptions info_;
};

}  // namespace

void add_tracing(Grammar grammar) {
  grammar.verb<List>("list", "what can be traced");
  grammar.verb<Trace>("trace", "stream events until ^C or the targets end");
  grammar.verb<Count>("count", "count hits in the kernel until ^C or the targets end");
  grammar.verb<Histogram>("hist", "histogram of a value, until ^C or the targets end");
  grammar.verb<Time>("time", "what calls take, until ^C or the targets end");
  grammar.verb<Latency>("latency", "the time from one probe to another, matched by a key");
  grammar.verb<Stacks>("stacks", "the deepest stack of each thread, with what its frames take");
  grammar.verb<Info>("info", "what is set on probes, by which sessions");
}

}  // namespace tracectl
