// SPDX-License-Identifier: BSD-2-Clause
#include "client/verbs/trace_output.h"

#include "client/connection/event_printer.h"
#include "client/output/output.h"
#include "client/recording/recorded_file.h"
#include "client/render/keys.h"
#include "client/render/row_order.h"
#include "client/render/rows.h"
#include "client/render/text.h"
#include "client/verbs/live_trace.h"

namespace tracectl {
namespace {

using namespace protocol;

EventPrinter::Shown shown_by(const TraceOptions& options, bool is_json) {
  if (options.folded) return EventPrinter::Shown::folded_stacks;
  if (options.deepest && !is_json) return EventPrinter::Shown::deepest_stacks;
  return options.graph ? EventPrinter::Shown::graph : EventPrinter::Shown::events;
}

GraphOptions graph_options(const TraceOptions& options) {
  if (!options.graph) return {};
  return {.arguments = options.graph->arguments,
          .results = options.graph->results,
          .colour = is_coloured(),
          .min_duration_ns = options.graph->min_duration_ns};
}

Status print_rest(Backend& backend, const std::string& session, EventPrinter& printer) {
  auto flushed = backend.call(SessionFlush{session});
  if (!flushed) return flushed.error();
  if (auto printed = printer.print_from(backend); !printed) return printed.error();
  return ok();
}

// If no table shows it.
void report_filtered(const ReadReply& read) {
  if (read.total_filtered) print_error(plural(read.total_filtered, "hit") + " filtered out\n");
}

// What was counted beside the events.
void print_rows(const CommonOptions& common, const std::vector<KeyView>& keys, size_t rows,
                ReadReply read) {
  const bool any = !read.rows.empty() || read.latencies;
  sort_rows(read.rows, RowOrder::total);
  if (any && !common.json)
    print(first_rows_text(titled(std::move(read), keys), rows));
  else if (!any && !common.quiet)
    report_filtered(read);
}

}  // namespace

int print_events(const CommonOptions& common, const TraceOptions& options) {
  const auto stream = common.json ? LiveTrace::Stream::plain : LiveTrace::Stream::described;
  return with_trace(common, options, stream, [&](Backend& backend, LiveTrace& trace) -> int {
    EventPrinter printer(common, trace.session(), shown_by(options, common.json),
                         graph_options(options));
    const auto ended = trace.run(printer);
    if (!ended || *ended == Ended::output_closed) return trace.status_of(ended);
    if (const auto nothing = trace.why_nothing()) return trace.status_without(ended, *nothing);
    if (auto off = trace.switch_off(); !off) return trace.failed(off.error());
    if (auto rest = print_rest(backend, trace.session(), printer); !rest)
      return trace.failed(rest.error());
    printer.finish();
    if (!common.quiet) print_error(printer.summary());
    print(printer.folded().text());
    print(printer.deepest().text(options.rows));
    if (auto rows = trace.read()) print_rows(common, trace.keys(), options.rows, std::move(*rows));
    return trace.status_of(ended);
  });
}

int record_events(const CommonOptions& common, const TraceOptions& options) {
  auto file = RecordedFile::open(*options.record);
  if (!file) return fail(file.error());
  const auto record = [&](Backend& backend, LiveTrace& trace) -> int {
    RecordingProgress progress(common, backend, trace.session());
    const auto ended = trace.run(
        {.go_on = [&] { return progress.look(); }, .every_ms = RecordingProgress::kEveryMs});
    if (!ended) progress.clear();
    if (auto off = trace.switch_off(); !off) return trace.failed(off.error());
    if (auto flushed = backend.call(SessionFlush{trace.session()}); !flushed)
      return trace.failed(flushed.error());
    auto recorded = progress.end();
    if (!recorded) return trace.failed(recorded.error());
    show<RecordingPart>(common, *recorded, [&](const RecordingPart& part) {
      return recording_text(*options.record, part);
    });
    return trace.status_of(ended);
  };
  return with_trace(common, options, LiveTrace::Stream::none, record, &*file);
}

}  // namespace tracectl
