// SPDX-License-Identifier: BSD-2-Clause
//
// Trace files: written, shown, and exported.
#include "client/options/duration.h"
#include "client/verbs/all.h"
#include "client/verbs/tracing.h"

namespace tracectl {
namespace {

class Record final : public TracingVerb {
 public:
  void add_options(Grammar& grammar) override {
    add_trace_options(grammar);
    add_do(grammar, trace_.action);
    add_from(grammar, trace_.latency);
    record_.add_to(grammar).required();
    grammar.starts_command();
  }
  Status complete(const CommonOptions& common) override {
    trace_.record = record_.chosen();
    return TracingVerb::complete(common);
  }
  int run(const CommonOptions& common) override { return run_trace(common, trace_); }

 private:
  RecordOptions record_;
};

class DumpRecorder final : public Verb {
 public:
  void add_options(Grammar& grammar) override {
    grammar.option("NAME", dump_.session, "of the session").required();
    grammar.option("-o,--output", dump_.to.file, "the trace file").required();
    grammar.flag("--compress", dump_.to.compress, "its blocks, by zstd");
  }
  int run(const CommonOptions& common) override { return run_dump(common, dump_); }

 private:
  DumpOptions dump_;
};

class Show final : public Verb {
 public:
  void add_options(Grammar& grammar) override {
    grammar.option("FILE", show_.file, "the trace file").required();
    grammar.option("--from", from_, "leave out what came sooner after the first: 10s, 500ms")
        .check(check_duration);
    grammar.option("--to", to_, "leave out what came later after the first").check(check_duration);
    const Option when = grammar.option("--when", show_.when,
                                       "only events for which this holds: 'duration > 1000000'");
    Option graph = grammar.flag("--graph", show_.graph, "calls, as graph shows them");
    graph.excludes(when);
    grammar.flag("--arguments", show_.arguments, "show what calls are given").needs(graph);
    grammar.flag("--results", show_.results, "show what calls return").needs(graph);
  }
  Status complete(const CommonOptions&) override {
    show_.from_s = parse_duration(from_);
    show_.to_s = parse_duration(to_);
    return ok();
  }
  int run(const CommonOptions& common) override { return run_show(common, show_); }

 private:
  ShowOptions show_;
  std::string from_, to_;
};

class Export final : public Verb {
 public:
  void add_options(Grammar& grammar) override {
    const Option file = grammar.option("FILE", exported_.file, "the trace file");
    grammar.option("--to", exported_.format, "the format; without FORMAT all are listed")
        .value_name("[FORMAT]")
        .expects(0, 1)
        .required();
    grammar
        .option("-o,--output", exported_.output,
                "where it goes: a file, or a directory that is not there yet; -: standard output")
        .needs(file);
  }
  int run(const CommonOptions& common) override { return run_export(common, exported_); }

 private:
  ExportOptions exported_;
};

}  // namespace

void add_recordings(Grammar grammar) {
  grammar.verb<Record>("record", "record events to a trace file until ^C or the targets end");
  grammar.verb<DumpRecorder>("dump",
                             "write what a session's flight recorder holds to a trace file");
  grammar.verb<Show>("show", "the events of a trace file");
  grammar.verb<Export>("export", "a trace file in the format of another tool");
}

}  // namespace tracectl
