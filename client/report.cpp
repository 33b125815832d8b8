// SPDX-License-Identifier: BSD-2-Clause
//
// report: sums of a recording.
#include "client/report.h"

#include <algorithm>
#include <fstream>
#include <iostream>
#include <memory>
#include <unordered_map>
#include <vector>

#include "client/output/output.h"
#include "client/recording/trace_file.h"
#include "client/render/call_sums.h"
#include "client/render/call_tree_text.h"
#include "client/render/rows.h"
#include "client/render/text.h"
#include "client/render/timeline.h"
#include "daemon/control/row_parts.h"
#include "daemon/protocol/call_sums.h"
#include "daemon/protocol/codec.h"
#include "daemon/protocol/events.h"
#include "daemon/spec/event_sums.h"

namespace tracectl {

using protocol::ReadReply;

namespace {

// For events that are not calls.
constexpr const char* kUsualSums = "count, time";

struct Recording {
  CallTree calls;
  EventSums events = *EventSums::parse(kUsualSums);  // used until there are calls
  uint64_t lost = 0;
  uint64_t other_lines = 0;
  uint64_t left_out = 0;  // probes that were left out from some moment on
  bool is_end_known = true;
  bool has_events = false;
  bool has_calls = false;
};

// In JSON lines each event has its own description of its probe: equal ones are merged.
class KnownSources {
 public:
  void unify(Event& event) {
    std::vector<std::shared_ptr<const EventSource>>& known = by_probe_[event.source->probe];
    const auto same = std::find_if(known.begin(), known.end(), [&](const auto& one) {
      return one->session == event.source->session && one->arguments == event.source->arguments &&
             one->result == event.source->result;
    });
    if (same != known.end())
      event.source = *same;
    else if (known.size() < kMostOfAProbe)
      known.push_back(event.source);
  }

 private:
  static constexpr size_t kMostOfAProbe = 256;  // types are guessed from values

  std::unordered_map<std::string, std::vector<std::shared_ptr<const EventSource>>> by_probe_;
};

Error in_line(const Error& error, const std::string& file, size_t number) {
  return Error{error.code, file + ":" + std::to_string(number) + ": " + error.message};
}

void add(const StreamItem& item, Recording& recording) {
  if (const auto* lost = std::get_if<Lost>(&item)) {
    recording.lost += lost->count;
    recording.is_end_known &= lost->cause != LossCause::unknown_end;
    return;
  }
  const Event& event = std::get<Event>(item);
  recording.has_events = true;
  recording.has_calls |= event.call.has_value();
  recording.calls.add(event);
  if (!recording.has_calls) recording.events.add(event);
}

// The writer was killed, or is still writing.
void tell_cut_off(const std::string& file) {
  print_error("tracectl: note: " + file + ": its last line is cut off, and left out\n");
}

// False for output of a traced command in the same file.
bool is_recorded(const std::string& line) {
  return line.starts_with("{\"ts\":") || line.starts_with("{\"lost\":");
}

bool is_unknown_end(const StreamItem& item) {
  const auto* lost = std::get_if<Lost>(&item);
  return lost && lost->cause == LossCause::unknown_end;
}

Status read_lines(std::istream& from, const std::string& file, Recording& recording) {
  std::string line;
  KnownSources sources;
  for (size_t number = 1; std::getline(from, line); ++number) {
    if (line.starts_with("{\"left_out\":")) {
      ++recording.left_out;
      continue;
    }
    if (!is_recorded(line)) {
      ++recording.other_lines;
      continue;
    }
    auto item = protocol::parse_line(line);
    if (!item && from.eof()) return tell_cut_off(file), ok();
    if (!item) return in_line(item.error(), file, number);
    if (is_unknown_end(*item)) print_error("tracectl: note: " + file + ": " + kUnknownEnd + "\n");
    if (auto* event = std::get_if<Event>(&*item)) sources.unify(*event);
    add(*item, recording);
  }
  if (from.bad()) return Error{Code::kernel, file + " cannot be read to its end"};
  return ok();
}

void tell_lost(const std::string& file, const Recording& recording) {
  if (recording.other_lines)
    print_error("tracectl: note: " + file + ": " + plural(recording.other_lines, "line") +
                (recording.other_lines == 1 ? " is" : " are") + " no events, and ignored\n");
  if (recording.left_out)
    print_error("tracectl: note: " + file + ": " + plural(recording.left_out, "probe") +
                " left out while this was recorded, for its budget\n");
  if (recording.lost)
    print_error("tracectl: note: " + file + ": " + plural(recording.lost, "event") +
                " were lost, so calls are missing or have no end\n");
}

Status read_trace_file(const CommonOptions& common, const std::string& file,
                       const recording::Reader::Take& take) {
  auto reader = open_trace_file(file);
  if (!reader) return reader.error();
  auto read = read_events(common, file, *reader, {}, take);
  tell_damage(file, *reader);
  return read;
}

Status read_file(const CommonOptions& common, const std::string& file, Recording& recording) {
  if (file == "-") return read_lines(std::cin, "standard input", recording);
  if (is_trace_file(file))
    return read_trace_file(common, file,
                           [&](const StreamItem& item) { return add(item, recording), true; });
  std::ifstream from(file);
  if (!from) return Error::from_errno("open " + file);
  return read_lines(from, file, recording);
}

Status read_recording(const CommonOptions& common, const std::string& file, Recording& recording) {
  if (auto read = read_file(common, file, recording); !read) return read;
  tell_lost(file, recording);
  return ok();
}

Status no_calls_in(const std::string& file) {
  return Error{Code::not_found,
               file + " has no calls: record them by tracectl graph FUNCTION -o FILE"};
}

Status read_calls(const CommonOptions& common, const std::string& file, Recording& recording) {
  if (auto read = read_recording(common, file, recording); !read) return read;
  return recording.has_calls ? ok() : no_calls_in(file);
}

// Most likely these threads have ended.
void tell_forgotten(const CallTree& calls) {
  if (const uint64_t threads = calls.forgotten_threads())
    print_error("tracectl: note: more than " + std::to_string(OpenCalls::kMostCalls) +
                " calls were open, or calls of more than " +
                std::to_string(OpenCalls::kMostThreads) + " threads: the calls of the " +
                plural(threads, "thread") + " idle for longest are shown without an end\n");
}

template <class Part> void print_json(const Part& part) {
  print(protocol::text_of(protocol::to_json(part)) + "\n");
}

std::string text_of(const CallTree& calls, GraphChoice::Form form, size_t rows) {
  switch (form) {
    case GraphChoice::Form::tree: return tree_text(calls, rows);
    case GraphChoice::Form::folded: return folded_text(calls);
    default: return function_table(calls, rows);
  }
}

}  // namespace

void print_sums(const CommonOptions& common, const CallTree& calls, GraphChoice::Form form,
                size_t rows, uint64_t lost, bool is_end_known) {
  tell_forgotten(calls);
  if (!common.json) return print(text_of(calls, form, rows));
  protocol::CallSumsPart sums = sums_of(calls, form == GraphChoice::Form::tree);
  sums.lost = lost;
  if (!is_end_known) sums.unknown_end = true;
  print_json(sums);
}

namespace {

void print_changes(const CommonOptions& common, const Recording& before, const Recording& after,
                   size_t rows) {
  tell_forgotten(before.calls);
  tell_forgotten(after.calls);
  if (!common.json) return print(comparison_text(before.calls, after.calls, rows));
  protocol::CallChangesPart changes = compared(before.calls, after.calls);
  changes.lost_before = before.lost;
  changes.lost_after = after.lost;
  print_json(changes);
}

// ---- events that are not calls ----

ReadReply reply_of(const EventSums& sums, uint64_t lost) {
  ReadReply reply{};
  reply.rows = parts_of(sums.rows());
  reply.total_hits = sums.hits();
  reply.total_filtered = sums.filtered();
  reply.dropped_ring = lost;
  reply.dropped_keys = sums.left_out();
  return reply;
}

int print_rows(const CommonOptions& common, const ReportOptions& options, const EventSums& sums,
               uint64_t lost) {
  if (auto fits = sums.check(); !fits) return fail(fits.error());
  tell_misfit(sums.misfit());
  show<ReadReply>(common, reply_of(sums, lost),
                  [&](const ReadReply& reply) { return first_rows_text(reply, options.rows); });
  return kDone;
}

int report_events(const CommonOptions& common, const ReportOptions& options) {
  auto sums = EventSums::parse(options.action.empty() ? kUsualSums : options.action, options.when);
  if (!sums) return fail(sums.error()), kUsage;
  uint64_t lost = 0;
  const auto read = read_trace_file(common, options.file, [&](const StreamItem& item) {
    if (const auto* event = std::get_if<Event>(&item))
      sums->add(*event);
    else
      lost += std::get<Lost>(item).count;
    return true;
  });
  if (!read) return fail(read.error());
  return print_rows(common, options, *sums, lost);
}

int report_timeline(const CommonOptions& common, const ReportOptions& options) {
  auto reader = open_trace_file(options.file);
  if (!reader) return fail(reader.error());
  Timeline timeline(reader->first_ns(), reader->last_ns());
  const auto read = read_events(common, options.file, *reader, {},
                                [&](const StreamItem& item) { return timeline.add(item), true; });
  if (!read) return fail(read.error());
  tell_damage(options.file, *reader);
  show<protocol::TimelinePart>(common, timeline.part(), [&](const protocol::TimelinePart& part) {
    return timeline_text(part, options.rows);
  });
  return kDone;
}

}  // namespace

int run_report(const CommonOptions& common, const ReportOptions& options) {
  if (options.timeline) return report_timeline(common, options);
  if (!options.action.empty() || !options.when.empty()) return report_events(common, options);
  Recording recording;
  if (options.against || options.form != GraphChoice::Form::functions) {
    if (auto read = read_calls(common, options.file, recording); !read) return fail(read.error());
  } else if (auto read = read_recording(common, options.file, recording); !read) {
    return fail(read.error());
  }
  if (options.against) {
    Recording before;
    if (auto read = read_calls(common, *options.against, before); !read) return fail(read.error());
    print_changes(common, before, recording, options.rows);
  } else if (recording.has_calls) {
    print_sums(common, recording.calls, options.form, options.rows, recording.lost,
               recording.is_end_known);
  } else if (recording.has_events) {
    return print_rows(common, options, recording.events, recording.lost);
  } else {
    return fail(no_calls_in(options.file).error());
  }
  return kDone;
}

}  // namespace tracectl
