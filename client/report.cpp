// SPDX-License-Identifier: BSD-2-Clause
//
// report: what was recorded by `graph -o` or `graph --json`, summed up.
#include "client/report.h"

#include <fstream>
#include <iostream>

#include "client/output.h"
#include "client/render/call_sums.h"
#include "client/render/call_tree_text.h"
#include "client/trace_file.h"
#include "daemon/protocol/call_sums.h"
#include "daemon/protocol/codec.h"
#include "daemon/protocol/events.h"

namespace tracectl {
namespace {

struct Recording {
  CallTree calls;
  uint64_t lost = 0;
  uint64_t other_lines = 0;
  uint64_t left_out = 0;  // probes, from somewhere on
  bool has_calls = false;
};

Error in_line(const Error& error, const std::string& file, size_t number) {
  return Error{error.code, file + ":" + std::to_string(number) + ": " + error.message};
}

void add(const StreamItem& item, Recording& recording) {
  if (const auto* lost = std::get_if<Lost>(&item)) {
    recording.lost += lost->count;
    return;
  }
  const Event& event = std::get<Event>(item);
  recording.has_calls |= event.call.has_value();
  recording.calls.add(event);
}

// Whoever wrote it was killed, or writes still.
void tell_cut_off(const std::string& file) {
  print_error("tracectl: note: " + file + ": its last line is cut off, and left out\n");
}

// Not what a command that was traced has printed into the same file.
bool is_recorded(const std::string& line) {
  return line.starts_with("{\"ts\":") || line.starts_with("{\"lost\":");
}

Status read_lines(std::istream& from, const std::string& file, Recording& recording) {
  std::string line;
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
    add(*item, recording);
  }
  if (from.bad()) return Error{Code::kernel, file + " cannot be read to its end"};
  return ok();
}

void tell_lost(const std::string& file, const Recording& recording) {
  if (recording.other_lines)
    print_error("tracectl: note: " + file + ": " + plural(recording.other_lines, "line") +
                " of something else left out\n");
  if (recording.left_out)
    print_error("tracectl: note: " + file + ": " + plural(recording.left_out, "probe") +
                " left out while this was recorded, for its budget\n");
  if (recording.lost)
    print_error("tracectl: note: " + file + ": " + plural(recording.lost, "event") +
                " were lost, so calls are missing or have no end\n");
}

Status read_trace_file(const std::string& file, Recording& recording) {
  auto reader = open_trace_file(file);
  if (!reader) return reader.error();
  auto read = reader->read({}, [&](const StreamItem& item) { return add(item, recording), true; });
  tell_damage(file, reader->damage());
  return read;
}

Status read_file(const std::string& file, Recording& recording) {
  if (file == "-") return read_lines(std::cin, "standard input", recording);
  if (is_trace_file(file)) return read_trace_file(file, recording);
  std::ifstream from(file);
  if (!from) return Error::from_errno("open " + file);
  return read_lines(from, file, recording);
}

Status read_recording(const std::string& file, Recording& recording) {
  if (auto read = read_file(file, recording); !read) return read;
  tell_lost(file, recording);
  if (recording.has_calls) return ok();
  return Error{Code::not_found,
               file + " has no calls: record them by tracectl graph FUNCTION -o FILE"};
}

// Threads of which nothing is heard any more, most likely.
void tell_forgotten(const CallTree& calls) {
  if (const uint64_t threads = calls.forgotten_threads())
    print_error("tracectl: note: more than " + std::to_string(OpenCalls::kMostThreads) +
                " threads had open calls: those of " + plural(threads, "thread") +
                " that had been quiet longest have no end\n");
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
                size_t rows, uint64_t lost) {
  tell_forgotten(calls);
  if (!common.json) return print(text_of(calls, form, rows));
  protocol::CallSumsPart sums = sums_of(calls, form == GraphChoice::Form::tree);
  sums.lost = lost;
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

}  // namespace

int run_report(const CommonOptions& common, const ReportOptions& options) {
  Recording recording;
  if (auto read = read_recording(options.file, recording); !read) return fail(read.error());
  if (!options.against) {
    print_sums(common, recording.calls, options.form, options.rows, recording.lost);
    return kDone;
  }
  Recording before;
  if (auto read = read_recording(*options.against, before); !read) return fail(read.error());
  print_changes(common, before, recording, options.rows);
  return kDone;
}

}  // namespace tracectl
