// SPDX-License-Identifier: BSD-2-Clause
#include <optional>
#include <string>

#include "client/connection/event_printer.h"
#include "client/options/duration.h"
#include "client/output/output.h"
#include "client/recording/trace_file.h"
#include "client/verbs/all.h"
#include "daemon/spec/event_condition.h"

namespace tracectl {
namespace {

// The events that --when chooses; losses are always included.
class EventChoice {
 public:
  static Result<EventChoice> parse(const std::string& when) {
    if (when.empty()) return EventChoice(std::nullopt);
    auto condition = EventCondition::parse(when);
    if (!condition) return condition.error();
    return EventChoice(*std::move(condition));
  }
  bool takes(const StreamItem& item) {
    const auto* event = std::get_if<Event>(&item);
    return !condition_ || !event || condition_->holds(*event);
  }
  Status check() const { return condition_ ? condition_->check() : ok(); }
  std::optional<Error> misfit() const { return condition_ ? condition_->misfit() : std::nullopt; }

 private:
  explicit EventChoice(std::optional<EventCondition> condition)
      : condition_(std::move(condition)) {}

  std::optional<EventCondition> condition_;
};

class ShowRecording final : public Verb {
 public:
  void add_options(Grammar& grammar) override {
    grammar.option("FILE", file_, "the trace file").required();
    grammar.option("--since", since_, "leave out what came sooner after the first: 10s, 500ms")
        .check(check_duration);
    grammar.option("--until", until_, "leave out what came later after the first")
        .check(check_duration);
    const Option when =
        grammar.option("--when", when_, "only events for which this holds: 'duration > 1000000'");
    Option graph = grammar.flag("--graph", graph_, "calls, as graph shows them");
    graph.excludes(when);
    grammar.flag("--arguments", arguments_, "show what calls are given").needs(graph);
    grammar.flag("--results", results_, "show what calls return").needs(graph);
  }

  int run(const CommonOptions& common) override {
    auto reader = open_trace_file(file_);
    if (!reader) return fail(reader.error());
    auto chosen = EventChoice::parse(when_);
    if (!chosen) return fail(chosen.error()), kUsage;
    EventPrinter printer(common, file_,
                         graph_ ? EventPrinter::Shown::graph : EventPrinter::Shown::events,
                         {.arguments = arguments_, .results = results_, .colour = is_coloured()});
    printer.use(protocol::WallClock(reader->header().wall_minus_boot_ns));
    auto shown = read_events(
        common, file_, *reader, range(reader->first_ns()),
        [&](const StreamItem& item) { return !chosen->takes(item) || printer.print_item(item); },
        Prints::meanwhile);
    if (!shown) return fail(shown.error());
    printer.finish();
    report_damage(file_, *reader);
    if (auto fits = chosen->check(); !fits) return fail(fits.error());
    report_misfit(chosen->misfit());
    if (!common.quiet) print_error(printer.summary());
    return kDone;
  }

 private:
  // Times of options are relative to the first event.
  recording::TimeRange range(uint64_t first_ns) const {
    const auto at = [&](double seconds) { return first_ns + static_cast<uint64_t>(seconds * 1e9); };
    recording::TimeRange range;
    if (const auto since_s = parse_duration(since_)) range.from_ns = at(*since_s);
    if (const auto until_s = parse_duration(until_)) range.to_ns = at(*until_s);
    return range;
  }

  std::string file_;
  std::string since_, until_;
  std::string when_;
  bool graph_ = false;  // in the form of `graph`
  bool arguments_ = false, results_ = false;
};

}  // namespace

void add_show(Grammar grammar) {
  grammar.verb<ShowRecording>("show", "the events of a trace file");
}

}  // namespace tracectl
