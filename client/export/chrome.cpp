// SPDX-License-Identifier: BSD-2-Clause
//
// Chrome's trace event JSON: calls are complete events (X), other events are instants (i), and calls that
// cross others are asynchronous spans (b and e).
#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "client/export/field_value.h"
#include "client/export/formats.h"
#include "client/export/slices.h"
#include "client/output/output_file.h"
#include "daemon/protocol/json_text.h"

namespace tracectl {
namespace {

using protocol::append_float;
using protocol::append_integer;
using protocol::append_string;

// Microseconds since boot, the format's unit, with three decimals for nanoseconds.
std::string microseconds(uint64_t ns) { return fmt::format("{}.{:03}", ns / 1000, ns % 1000); }

struct JsonValue {
  std::string& out;

  void operator()(std::monostate) const { out += "null"; }
  void operator()(std::string_view text) const { append_string(out, text); }
  void operator()(double number) const { append_float(out, number); }
  template <std::integral T> void operator()(T number) const { append_integer(out, number); }
};

// An argument's name, made different from those of the other members.
std::string own_name(const std::string& name) {
  for (const char* ours : {"result", "result_is", "tag", "stack", "cpu"})
    if (name == ours) return "argument " + name;
  return name;
}

// The members of `args`.
class JsonMembers {
 public:
  void add(std::string_view name, const FieldValue& value) {
    if (!text_.empty()) text_ += ',';
    append_string(text_, name);
    text_ += ':';
    std::visit(JsonValue{text_}, value);
  }
  void add_text(std::string_view name, const std::string& text) {
    if (!text.empty()) add(name, std::string_view(text));
  }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

class ChromeExport final : public Export {
 public:
  explicit ChromeExport(OutputFile file, const Recorded& recorded)
      : file_(std::move(file)),
        recorded_(recorded),
        slices_([this](const Slice& slice) { return put(slice); }) {}

  Status add(const Event& event) override {
    if (auto named = name_thread(event); !named) return named;
    auto is_of_call = slices_.add(event);
    if (!is_of_call) return is_of_call.error();
    if (*is_of_call) return ok();
    const std::string& name = names_.of(event.source->probe);
    if (event.kind == EventKind::latency && event.duration_ns)
      return put_span(event.pid, event.tid, name, name_of(event.kind),
                      event.ts_ns - std::min(event.ts_ns, *event.duration_ns), event.ts_ns,
                      members_of(event));
    return put("i", event.pid, event.tid, name, name_of(event.kind), event.ts_ns, R"(,"s":"t")",
               members_of(event));
  }

  Status add(const Lost& lost) override {
    JsonMembers members;
    members.add("count", lost.count);
    members.add("cause", std::string_view(name_of(lost.cause)));
    if (lost.cpu) members.add("cpu", uint64_t{*lost.cpu});
    return put("i", 0, 0, "lost events", "lost", lost.ts_ns, R"(,"s":"g")", members);
  }

  Status finish() override {
    if (auto ended = slices_.finish(recorded_.last_ns); !ended) return ended;
    const std::string_view end =
        has_events_ ? "\n],\"displayTimeUnit\":\"ns\"}\n" : "{\"traceEvents\":[]}\n";
    if (auto written = file_.write(end); !written) return written;
    return file_.commit();
  }

 private:
  static JsonMembers members_of(const Event& event) {
    JsonMembers members;
    for (size_t i = 0; i < event.args.size(); ++i)
      members.add(own_name(name_of_argument(event, i)), argument_value(event, i));
    const std::string what(what_retval_is(event));
    if (event.retval || !what.empty()) members.add("result", result_value(event));
    members.add_text("result_is", what);
    members.add_text("tag", event.tag);
    if (event.stack) members.add_text("stack", stack_lines(*event.stack));
    members.add("cpu", uint64_t{event.cpu});
    return members;
  }

  Status put(const Slice& slice) {
    JsonMembers members;
    members.add_text("arguments", slice.arguments);
    members.add_text("result", slice.result);
    if (slice.end != Slice::End::returned)
      members.add_text("end", slice.end == Slice::End::unwound ? "unwound" : "not seen");
    if (slice.is_crossing)
      return put_span(slice.pid, slice.tid, slice.name, "call", slice.begin_ns, slice.end_ns,
                      members);
    const std::string duration = ",\"dur\":" + microseconds(slice.end_ns - slice.begin_ns);
    return put("X", slice.pid, slice.tid, slice.name, "call", slice.begin_ns, duration, members);
  }

  Status put_span(pid_t pid, pid_t tid, std::string_view name, std::string_view category,
                  uint64_t begin_ns, uint64_t end_ns, const JsonMembers& members) {
    const std::string id = fmt::format(R"(,"id":{})", ++last_span_);
    if (auto begun = put("b", pid, tid, name, category, begin_ns, id, members); !begun)
      return begun;
    return put("e", pid, tid, name, category, end_ns, id, {});
  }

  Status put(std::string_view phase, pid_t pid, pid_t tid, std::string_view name,
             std::string_view category, uint64_t ts_ns, std::string_view rest,
             const JsonMembers& members) {
    line_ = has_events_ ? ",\n{\"ph\":\"" : "{\"traceEvents\":[\n{\"ph\":\"";
    has_events_ = true;
    line_ += phase;
    line_ += "\",\"name\":";
    append_string(line_, name);
    line_ += fmt::format(R"(,"cat":"{}","pid":{},"tid":{},"ts":{}{},"args":{{{}}}}})", category,
                         pid, tid, microseconds(ts_ns), rest, members.text());
    return file_.write(line_);
  }

  // Names the thread when it is first seen.
  Status name_thread(const Event& event) {
    if (!threads_.insert({event.pid, event.tid}).second) return ok();
    JsonMembers members;
    members.add("name", std::string_view(event.comm));
    if (event.pid == event.tid)
      if (auto named = put("M", event.pid, event.tid, "process_name", "", 0, "", members); !named)
        return named;
    return put("M", event.pid, event.tid, "thread_name", "", 0, "", members);
  }

  OutputFile file_;
  const Recorded recorded_;
  Slices slices_;
  CallNames names_;
  std::set<std::pair<pid_t, pid_t>> threads_;  // that have been named
  uint64_t last_span_ = 0;
  bool has_events_ = false;
  std::string line_;  // that is being built
};

}  // namespace

OpenedExport open_chrome(const std::string& path, const Recorded& recorded) {
  auto file = OutputFile::open(path);
  if (!file) return file.error();
  return std::unique_ptr<Export>(new ChromeExport(std::move(*file), recorded));
}

}  // namespace tracectl
