// SPDX-License-Identifier: BSD-2-Clause
#include "client/render/recorder.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <optional>
#include <string>
#include <vector>

#include "client/options/size.h"
#include "client/render/text.h"
#include "daemon/base/signal_name.h"

namespace tracectl {

std::string recorder_bound_text(const protocol::RecorderBoundPart& bound) {
  std::string text;
  if (bound.bytes) text = size_text(*bound.bytes);
  if (bound.seconds) text += (text.empty() ? "" : ", ") + fmt::format("{:g} s", *bound.seconds);
  return text;
}

namespace {

std::vector<int64_t> numbers_of(const std::optional<std::vector<int64_t>>& numbers) {
  return numbers.value_or(std::vector<int64_t>{});
}

std::string dump_on_text(const protocol::RecorderPart& recorder) {
  std::vector<std::string> causes;
  if (recorder.dump_on.crash) causes.emplace_back("a process crashes");
  for (const int64_t signal : numbers_of(recorder.dump_on.signals))
    causes.push_back("a process is ended by " + signal_name(static_cast<int>(signal)));
  for (const int64_t status : numbers_of(recorder.dump_on.exit_statuses))
    causes.push_back(fmt::format("a process exits with {}", status));
  for (const std::string& unit : recorder.dump_on.failed_units) causes.push_back(unit + " fails");
  if (causes.empty()) return "";
  std::string text = fmt::format("  dumped when {}", fmt::join(causes, " or "));
  if (recorder.dumps_left_out)
    text += ", " + plural(recorder.dumps_left_out, "dump") + " left out so shortly after another";
  return text + "\n";
}

std::string last_dump_text(const protocol::RecorderPart& recorder) {
  return recorder.last_dump ? "  last dump: " + *recorder.last_dump + "\n" : "";
}

}  // namespace

std::string recorder_text(const protocol::RecorderPart& recorder) {
  const uint64_t span_ns = recorder.last_ts.value_or(0) - recorder.first_ts.value_or(0);
  return fmt::format("recorder of {}: {} of {:.3f} s in {}, {} lost, {} overwritten\n",
                     recorder_bound_text(recorder.bound), plural(recorder.events, "event"),
                     static_cast<double>(span_ns) / 1e9, size_text(recorder.bytes), recorder.lost,
                     recorder.overwritten) +
         dump_on_text(recorder) + last_dump_text(recorder);
}

}  // namespace tracectl
