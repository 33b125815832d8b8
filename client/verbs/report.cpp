// SPDX-License-Identifier: BSD-2-Clause
#include <optional>
#include <string>
#include <vector>

#include "client/output/browser.h"
#include "client/output/output.h"
#include "client/page/report_page.h"
#include "client/recording/recording_sums.h"
#include "client/recording/trace_file.h"
#include "client/render/call_sums.h"
#include "client/render/call_tree_text.h"
#include "client/render/probe_names.h"
#include "client/render/rows.h"
#include "client/render/timeline.h"
#include "client/verbs/all.h"
#include "client/verbs/graph_form.h"
#include "client/verbs/shared_options.h"
#include "daemon/control/row_parts.h"
#include "daemon/protocol/call_sums.h"
#include "daemon/spec/event_sums.h"

namespace tracectl {
namespace {

// For options other than those of add_forms().
void exclude_each_other(const std::vector<Option>& options) {
  for (Option one : options)
    for (const Option& other : options)
      if (one != other) one.excludes(other);
}

void print_changes(const CommonOptions& common, const RecordingSums& before,
                   const RecordingSums& after, size_t rows) {
  report_forgotten(before.calls);
  report_forgotten(after.calls);
  if (!common.json)
    return print_paged(comparison_text(before.calls, after.calls, rows), common.pager);
  protocol::CallChangesPart changes = compared(before.calls, after.calls);
  changes.lost_before = before.lost;
  changes.lost_after = after.lost;
  print(protocol::text_of(protocol::to_json(changes)) + "\n");
}

protocol::ReadReply reply_of(const EventSums& sums, uint64_t lost) {
  protocol::ReadReply reply{};
  reply.rows = parts_of(sums.rows());
  add_demangled(reply.rows);
  reply.total_hits = sums.hits();
  reply.total_filtered = sums.filtered();
  reply.dropped_ring = lost;
  reply.dropped_keys = sums.left_out();
  return reply;
}

class SumUpRecording final : public Verb {
 public:
  void add_options(Grammar& grammar) override {
    grammar
        .option("FILE", file_,
                "a trace file, or what graph --json has printed; -: that from standard input")
        .required();
    const Option against =
        grammar.option("--against", against_, "tell what has changed since this recording")
            .value_name("FILE");
    const Option action =
        grammar.option("--do", action_, "what events come to: 'count by comm, hist(duration)'");
    Option when = grammar.option("--when", when_, "only events for which this holds");
    const Option timeline =
        grammar.flag("--timeline", timeline_, "when the events of each thread came");
    const Option html =
        grammar.option("--html", html_, "write a trace file as a page for a browser, to this file")
            .value_name("FILE");
    Option open = grammar.flag(
        "--open", open_,
        "show the page in $BROWSER, or by xdg-open; it is FILE.html if --html is left out");
    std::vector<Option> kinds{against, action, timeline, html};
    for (const Option& form : add_forms(grammar, form_)) kinds.push_back(form);
    exclude_each_other(kinds);
    for (const Option& kind : kinds)
      if (kind != action) when.excludes(kind);
    for (const Option& kind : kinds)
      if (kind != html) open.excludes(kind);
    open.excludes(when);
    add_rows(grammar, rows_);
  }

  Status complete(const CommonOptions& common) override {
    if (open_ && common.end_with_input)
      return Error{Code::invalid, "--open starts a browser on this host only: leave --host away"};
    return check_form(common, form_);
  }

  int run(const CommonOptions& common) override {
    if (html_ || open_) return report_page(common, html_.value_or(file_ + ".html"));
    if (timeline_) return report_timeline(common);
    if (!action_.empty() || !when_.empty()) return report_events(common);
    return report_sums(common);
  }

 private:
  int report_page(const CommonOptions& common, const std::string& page) const {
    const int written = write_report_page(common, file_, page);
    if (written != kDone || !open_) return written;
    auto shown = open_in_browser(page);
    return shown ? kDone : fail(shown.error());
  }

  int report_sums(const CommonOptions& common) const {
    RecordingSums sums;
    if (against_ || form_ != GraphForm::functions) {
      if (auto read = read_calls(common, file_, sums); !read) return fail(read.error());
    } else if (auto read = read_sums(common, file_, sums); !read) {
      return fail(read.error());
    }
    if (against_) return report_changes(common, sums);
    if (!sums.has_calls && sums.has_events) return print_rows(common, sums.events, sums.lost);
    if (!sums.has_calls) return fail(no_calls_in(file_));
    print_sums(common, sums.calls, form_, rows_, sums.lost, sums.is_end_known);
    return kDone;
  }

  int report_changes(const CommonOptions& common, const RecordingSums& sums) const {
    RecordingSums before;
    if (auto read = read_calls(common, *against_, before); !read) return fail(read.error());
    print_changes(common, before, sums, rows_);
    return kDone;
  }

  // Events that are not calls, or are not shown as such.
  int report_events(const CommonOptions& common) const {
    auto sums = EventSums::parse(action_.empty() ? kUsualEventSums : action_, when_);
    if (!sums) return fail(sums.error()), kUsage;
    uint64_t lost = 0;
    const auto read = read_trace_file(common, file_, [&](const StreamItem& item) {
      if (const auto* event = std::get_if<Event>(&item))
        sums->add(*event);
      else
        lost += std::get<Lost>(item).count;
      return true;
    });
    if (!read) return fail(read.error());
    return print_rows(common, *sums, lost);
  }

  int print_rows(const CommonOptions& common, const EventSums& sums, uint64_t lost) const {
    if (auto fits = sums.check(); !fits) return fail(fits.error());
    report_misfit(sums.misfit());
    show<protocol::ReadReply>(common, reply_of(sums, lost), [&](const protocol::ReadReply& reply) {
      return first_rows_text(reply, rows_);
    });
    return kDone;
  }

  int report_timeline(const CommonOptions& common) const {
    auto reader = open_trace_file(file_);
    if (!reader) return fail(reader.error());
    Timeline timeline(reader->first_ns(), reader->last_ns());
    const auto read = read_events(common, file_, *reader, {},
                                  [&](const StreamItem& item) { return timeline.add(item), true; });
    if (!read) return fail(read.error());
    report_damage(file_, *reader);
    show<protocol::TimelinePart>(common, timeline.part(), [&](const protocol::TimelinePart& part) {
      return timeline_text(part, rows_);
    });
    return kDone;
  }

  // A trace file, or the output of `graph --json`; "-": the latter from standard input.
  std::string file_;
  std::optional<std::string> against_;
  GraphForm form_ = GraphForm::functions;
  size_t rows_ = SIZE_MAX;  // of the table
  std::string action_;      // the value of --do: how events are summed up
  std::string when_;        // only events for which this holds
  bool timeline_ = false;
  std::optional<std::string> html_;  // the page to write instead
  bool open_ = false;                // the page in a browser
};

}  // namespace

void add_report(Grammar grammar) {
  grammar.verb<SumUpRecording>("report", "sum up what has been recorded");
}

}  // namespace tracectl
