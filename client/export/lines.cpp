// SPDX-License-Identifier: BSD-2-Clause
//
// Formats with one line per event.
#include <fmt/format.h>

#include "client/export/field_value.h"
#include "client/export/formats.h"
#include "client/output/output_file.h"
#include "client/render/probe_names.h"
#include "daemon/protocol/events.h"
#include "daemon/protocol/json_text.h"

namespace tracectl {
namespace {

class JsonLinesExport final : public Export {
 public:
  JsonLinesExport(OutputFile file, const Recorded& recorded)
      : file_(std::move(file)), wall_(recorded.wall_minus_boot_ns) {}

  Status add(const Event& event) override {
    line_.clear();
    protocol::append_event(line_, event, wall_, names_.demangled(event.source->probe));
    session_ = event.source->session;
    return file_.write(line_ += '\n');
  }
  Status add(const Lost& lost) override {
    line_ = "{\"lost\":";
    protocol::append_lost(line_, lost, session_);
    return file_.write(line_ += "}\n");
  }
  Status finish() override { return file_.commit(); }

 private:
  OutputFile file_;
  protocol::WallClock wall_;
  StreamNames names_;
  std::string session_;
  std::string line_;
};

// A row of RFC 4180.
class CsvRow {
 public:
  CsvRow& add(std::string_view text) {
    if (has_fields_) text_ += ',';
    has_fields_ = true;
    const std::string valid = protocol::valid_utf8(text);
    if (valid.find_first_of(",\"\r\n") == std::string::npos) {
      text_ += valid;
      return *this;
    }
    text_ += '"';
    for (const char c : valid) text_.append(c == '"' ? 2 : 1, c);
    text_ += '"';
    return *this;
  }
  template <std::integral T> CsvRow& add(T number) { return add(fmt::format("{}", number)); }
  template <class T> CsvRow& add(const std::optional<T>& number) {
    return number ? add(*number) : add("");
  }
  CsvRow& add_empty(size_t count) {
    for (size_t i = 0; i < count; ++i) add("");
    return *this;
  }
  std::string line() const { return text_ + "\n"; }

 private:
  std::string text_;
  bool has_fields_ = false;
};

class CsvExport final : public Export {
 public:
  CsvExport(OutputFile file, const Recorded& recorded)
      : file_(std::move(file)),
        wall_(recorded.wall_minus_boot_ns),
        arguments_(recorded.most_arguments) {}

  Status begin() {
    CsvRow row;
    for (const char* name :
         {"ts", "wall", "kind", "cpu", "pid", "tid", "comm", "session", "probe", "call", "depth",
          "duration", "retval", "retval_is", "tag", "stack", "lost", "cause"})
      row.add(name);
    for (size_t i = 0; i < arguments_; ++i) row.add(fmt::format("arg{}", i));
    return file_.write(row.line());
  }

  Status add(const Event& event) override {
    CsvRow row;
    row.add(event.ts_ns).add(wall_text(event.ts_ns)).add(name_of(event.kind)).add(event.cpu);
    row.add(event.pid).add(event.tid).add(event.comm);
    row.add(event.source->session).add(names_.of(event.source->probe));
    if (event.call)
      row.add(event.call->number).add(event.call->depth);
    else
      row.add_empty(2);
    row.add(event.duration_ns).add(plain_text(result_value(event)));
    row.add(what_retval_is(event)).add(event.tag);
    row.add(event.stack ? stack_lines(*event.stack) : "").add_empty(2);
    for (size_t i = 0; i < arguments_; ++i)
      row.add(i < event.args.size() ? plain_text(argument_value(event, i)) : "");
    return file_.write(row.line());
  }

  Status add(const Lost& lost) override {
    CsvRow row;
    row.add(lost.ts_ns).add(wall_text(lost.ts_ns)).add("lost").add(lost.cpu).add_empty(12);
    row.add(lost.count).add(name_of(lost.cause)).add_empty(arguments_);
    return file_.write(row.line());
  }

  Status finish() override { return file_.commit(); }

 private:
  std::string wall_text(uint64_t ts_ns) {
    std::string text;
    wall_.append(text, ts_ns);
    return text;
  }

  OutputFile file_;
  protocol::WallClock wall_;
  StreamNames names_;
  const size_t arguments_;  // columns
};

}  // namespace

OpenedExport open_json_lines(const std::string& path, const Recorded& recorded) {
  auto file = OutputFile::open(path);
  if (!file) return file.error();
  return std::unique_ptr<Export>(new JsonLinesExport(std::move(*file), recorded));
}

OpenedExport open_csv(const std::string& path, const Recorded& recorded) {
  auto file = OutputFile::open(path);
  if (!file) return file.error();
  auto made = std::make_unique<CsvExport>(std::move(*file), recorded);
  if (auto begun = made->begin(); !begun) return begun.error();
  return std::unique_ptr<Export>(std::move(made));
}

}  // namespace tracectl
