// SPDX-License-Identifier: BSD-2-Clause
#include "client/recording/recording_sums.h"

#include <algorithm>
#include <fstream>
#include <iostream>
#include <memory>
#include <unordered_map>
#include <vector>

#include "client/output/output.h"
#include "client/recording/trace_file.h"
#include "client/render/text.h"
#include "daemon/protocol/events.h"

namespace tracectl {
namespace {

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

void add(const StreamItem& item, RecordingSums& sums) {
  if (const auto* lost = std::get_if<Lost>(&item)) {
    sums.lost += lost->count;
    sums.is_end_known &= lost->cause != LossCause::unknown_end;
    return;
  }
  const Event& event = std::get<Event>(item);
  sums.has_events = true;
  sums.has_calls |= event.call.has_value();
  sums.calls.add(event);
  if (!sums.has_calls) sums.events.add(event);
}

// The writer was killed, or is still writing.
void report_cut_off(const std::string& file) {
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

Status read_lines(std::istream& from, const std::string& file, RecordingSums& sums) {
  std::string line;
  KnownSources sources;
  for (size_t number = 1; std::getline(from, line); ++number) {
    if (line.starts_with("{\"left_out\":")) {
      ++sums.left_out;
      continue;
    }
    if (!is_recorded(line)) {
      ++sums.other_lines;
      continue;
    }
    auto item = protocol::parse_line(line);
    if (!item && from.eof()) return report_cut_off(file), ok();
    if (!item) return in_line(item.error(), file, number);
    if (is_unknown_end(*item)) print_error("tracectl: note: " + file + ": " + kUnknownEnd + "\n");
    if (auto* event = std::get_if<Event>(&*item)) sources.unify(*event);
    add(*item, sums);
  }
  if (from.bad()) return Error{Code::kernel, file + " cannot be read to its end"};
  return ok();
}

void report_lost(const std::string& file, const RecordingSums& sums) {
  if (sums.other_lines)
    print_error("tracectl: note: " + file + ": " + plural(sums.other_lines, "line") +
                (sums.other_lines == 1 ? " is" : " are") + " no events, and ignored\n");
  if (sums.left_out)
    print_error("tracectl: note: " + file + ": " + plural(sums.left_out, "probe") +
                " left out while this was recorded, for its budget\n");
  if (sums.lost)
    print_error("tracectl: note: " + file + ": " + plural(sums.lost, "event") +
                " were lost, so calls are missing or have no end\n");
}

Status read_file(const CommonOptions& common, const std::string& file, RecordingSums& sums) {
  if (file == "-") return read_lines(std::cin, "standard input", sums);
  if (is_trace_file(file))
    return read_trace_file(common, file,
                           [&](const StreamItem& item) { return add(item, sums), true; });
  std::ifstream from(file);
  if (!from) return Error::from_errno("open " + file);
  const auto is_empty = [&] {
    return !sums.has_events && !sums.has_calls && !sums.lost && !sums.left_out;
  };
  const bool was_empty = is_empty();
  if (auto read = read_lines(from, file, sums); !read) return read;
  if (was_empty && is_empty() && sums.other_lines > 0)
    return Error{Code::invalid,
                 file + " is no recording: tracectl record and graph -o write those"};
  return ok();
}

}  // namespace

Status read_sums(const CommonOptions& common, const std::string& file, RecordingSums& sums) {
  if (auto read = read_file(common, file, sums); !read) return read;
  report_lost(file, sums);
  return ok();
}

Error no_calls_in(const std::string& file) {
  return Error{Code::not_found,
               file + " has no calls: record them by tracectl graph FUNCTION -o FILE"};
}

Status read_calls(const CommonOptions& common, const std::string& file, RecordingSums& sums) {
  if (auto read = read_sums(common, file, sums); !read) return read;
  if (!sums.has_calls) return no_calls_in(file);
  return ok();
}

}  // namespace tracectl
