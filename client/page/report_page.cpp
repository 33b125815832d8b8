// SPDX-License-Identifier: BSD-2-Clause
#include "client/page/report_page.h"

#include <fmt/format.h>

#include <array>

#include "client/output/output.h"
#include "client/output/output_file.h"
#include "client/page/page_columns.h"
#include "client/page/page_data.h"
#include "client/recording/trace_file.h"
#include "client/render/text.h"
#include "daemon/protocol/codec.h"
#include "daemon/protocol/written_file.h"
#include "page/page.h"

namespace tracectl {
namespace {

constexpr std::string_view kDataMark = "<!--DATA-->";

// ---- columns ----

// Lines of a name and a number each.
std::string facts_of(const recording::Reader& reader, const PageData& data) {
  const recording::Damage& damage = reader.damage();
  // Added as unsigned numbers: nonsensical times wrap around, without undefined behaviour.
  const auto wall_ns = static_cast<int64_t>(
      data.first_ns + static_cast<uint64_t>(reader.header().wall_minus_boot_ns));
  std::string facts;
  const auto add = [&](std::string_view name, auto number) {
    facts += fmt::format("{} {}\n", name, number);
  };
  add("file_bytes", reader.bytes());
  add("wall_ms", static_cast<double>(wall_ns) / 1e6);
  add("duration_ns", data.last_ns - data.first_ns);
  add("events", data.events);
  add("lost", data.lost);
  add("left_out_items", data.left_out_items);
  add("left_out_stacks", data.left_out_stacks);
  add("left_out_texts", data.names.left_out() + data.details.left_out());
  add("left_out_losses", data.left_out_losses);
  add("damaged_bytes", damage.bytes);
  add("unfinished_bytes", damage.unfinished_bytes);
  add("damaged_blocks", damage.blocks);
  add("damaged_records", damage.records);
  add("unknown_parts", damage.unknown);
  add("unknown_end", reader.is_end_known() ? 0 : 1);
  return facts;
}

void write_texts(OutputFile& to, const std::string& name, const PageTexts& texts) {
  std::vector<size_t> lengths(texts.size());
  for (size_t i = 0; i < lengths.size(); ++i) lengths[i] = texts[i].size();
  write_numbers(to, name + "_length", lengths, [](size_t length) { return length; });
  write_bytes(to, name, texts.bytes());
}

template <class Part> struct Column {
  std::string_view name;
  uint64_t (*number_of)(const Part&);
};

template <class Parts, class Part, size_t N>
void write_all(OutputFile& to, const Parts& parts, const std::array<Column<Part>, N>& columns) {
  for (const Column<Part>& column : columns)
    write_numbers(to, column.name, parts, column.number_of);
}

// Durations plus 1; 0 means none.
uint64_t duration_number(const PageItem& item) {
  return item.duration_ns == PageItem::kNoDuration ? 0 : item.duration_ns + 1;
}

constexpr std::array kItemColumns = std::to_array<Column<PageItem>>(
    {{"duration", duration_number},
     {"probe", [](const PageItem& item) -> uint64_t { return item.probe; }},
     {"thread", [](const PageItem& item) -> uint64_t { return item.thread; }},
     {"depth", [](const PageItem& item) -> uint64_t { return item.depth; }},
     {"cpu", [](const PageItem& item) -> uint64_t { return item.cpu; }},
     {"kind", [](const PageItem& item) { return static_cast<uint64_t>(item.kind); }},
     {"within", [](const PageItem& item) -> uint64_t { return item.is_within; }},
     {"arguments", [](const PageItem& item) -> uint64_t { return item.arguments; }},
     {"result", [](const PageItem& item) -> uint64_t { return item.result; }},
     {"tag", [](const PageItem& item) -> uint64_t { return item.tag; }},
     {"stack", [](const PageItem& item) -> uint64_t { return item.stack; }}});

constexpr std::array kProbeColumns = std::to_array<Column<PageProbe>>(
    {{"probe_name", [](const PageProbe& probe) -> uint64_t { return probe.name; }},
     {"probe_pattern", [](const PageProbe& probe) -> uint64_t { return probe.pattern; }},
     {"probe_hits", [](const PageProbe& probe) { return probe.hits; }},
     {"probe_returned", [](const PageProbe& probe) { return probe.returned; }},
     {"probe_unwound", [](const PageProbe& probe) { return probe.unwound; }},
     {"probe_latency", [](const PageProbe& probe) { return probe.latency; }}});

constexpr std::array kThreadColumns = std::to_array<Column<PageThread>>(
    {{"thread_pid", [](const PageThread& thread) { return static_cast<uint64_t>(thread.pid); }},
     {"thread_tid", [](const PageThread& thread) { return static_cast<uint64_t>(thread.tid); }},
     {"thread_comm", [](const PageThread& thread) -> uint64_t { return thread.comm; }}});

constexpr std::array kLossColumns = std::to_array<Column<PageLoss>>(
    {{"loss_count", [](const PageLoss& loss) { return loss.count; }},
     {"loss_cause", [](const PageLoss& loss) { return static_cast<uint64_t>(loss.cause); }},
     {"loss_cpu", [](const PageLoss& loss) -> uint64_t { return loss.cpu; }}});

// Differences to the item before, which take half the space of absolute times.
void write_begins(OutputFile& to, const PageData& data) {
  std::vector<uint64_t> steps;
  steps.reserve(data.items.size());
  uint64_t last_ns = data.first_ns;
  for (const PageItem& item : data.items)
    steps.push_back(item.begin_ns - std::exchange(last_ns, item.begin_ns));
  write_numbers(to, "begin_step", steps, [](uint64_t step) { return step; });
}

void write_stacks(OutputFile& to, const PageData& data) {
  std::vector<uint32_t> frames;
  for (const auto& stack : data.stacks) frames.insert(frames.end(), stack.begin(), stack.end());
  write_numbers(to, "stack_frames", frames, [](uint32_t name) { return name; });
  write_numbers(to, "stack_length", data.stacks, [](const auto& stack) { return stack.size(); });
}

void write_data(OutputFile& to, const std::string& file, const recording::Reader& reader,
                const PageData& data) {
  write_bytes(to, "file", printable(file));
  write_bytes(to, "reason", printable(reader.reason()));
  write_bytes(to, "facts", facts_of(reader, data));
  write_texts(to, "names", data.names);
  write_texts(to, "details", data.details);
  write_all(to, data.probes, kProbeColumns);
  write_all(to, data.threads, kThreadColumns);
  write_all(to, data.losses, kLossColumns);
  write_numbers(to, "loss_time", data.losses, [&](const PageLoss& loss) {
    return loss.ts_ns - std::min(loss.ts_ns, data.first_ns);
  });
  write_numbers(to, "cpu_number", data.cpus, [](const auto& cpu) { return cpu.first; });
  write_numbers(to, "cpu_events", data.cpus, [](const auto& cpu) { return cpu.second; });
  write_stacks(to, data);
  write_begins(to, data);
  write_all(to, data.items, kItemColumns);
}

// ---- the page ----

Status write_page(const std::string& page, const std::string& trace_file,
                  const recording::Reader& reader, const PageData& data, uint64_t& bytes) {
  constexpr std::string_view text = kPage;
  constexpr size_t mark = text.find(kDataMark);
  static_assert(mark != std::string_view::npos);
  auto file = OutputFile::open(page);
  if (!file) return file.error();
  file->write(text.substr(0, mark));
  write_data(*file, trace_file, reader, data);
  file->write(text.substr(mark + kDataMark.size()));
  auto written = file->commit();
  bytes = file->bytes();
  return written;
}

Status check_files(const std::string& trace_file, const std::string& page) {
  if (trace_file == "-")
    return Error{Code::invalid, "--html shows trace files, and standard input is none"};
  return check_other_file(trace_file, page);
}

void report_left_out(const std::string& page, const PageData& data) {
  const auto report = [&](uint64_t count, const std::string& what) {
    if (count) print_error("tracectl: note: " + page + ": " + what + "\n");
  };
  report(data.left_out_items,
         fmt::format("{} calls and hits left out: it has room for the first {}",
                     data.left_out_items, PageCollector::kMostItems));
  report(data.left_out_stacks, plural(data.left_out_stacks, "event") + " without their stacks");
  const uint64_t texts = data.names.left_out() + data.details.left_out();
  report(texts, plural(texts, "text") + " left out, as all of them would be too large");
  const uint64_t cut = data.names.cut() + data.details.cut();
  report(cut, fmt::format("{} cut to {} bytes", plural(cut, "text"), PageTexts::kLongest));
  report(data.left_out_losses, plural(data.left_out_losses, "line") + " of its losses left out");
}

}  // namespace

int write_report_page(const CommonOptions& common, const std::string& trace_file,
                      const std::string& page) {
  if (auto possible = check_files(trace_file, page); !possible) return fail(possible.error());
  auto reader = open_trace_file(trace_file);
  if (!reader) return fail(reader.error());
  PageCollector collector;
  const auto read = read_events(common, trace_file, *reader, {},
                                [&](const StreamItem& item) { return collector.add(item), true; });
  if (!read) return fail(read.error());
  const PageData& data = collector.finish();
  uint64_t bytes = 0;
  const auto written = write_page(page, trace_file, *reader, data, bytes);
  if (!written) return fail(written.error());
  report_damage(trace_file, *reader);
  report_left_out(page, data);
  protocol::WrittenFilePart part{
      .file = page, .format = "html", .events = data.events, .lost = data.lost};
  if (!reader->is_end_known()) part.unknown_end = true;
  if (common.json)
    print(protocol::text_of(protocol::to_json(part)) + "\n");
  else if (!common.quiet)
    print_error(fmt::format("{}: {}, {}, {:.1f} MiB\n", page, plural(data.events, "event"),
                            lost_sum_text(data.lost, reader->is_end_known()),
                            static_cast<double>(bytes) / (1 << 20)));
  return kDone;
}

}  // namespace tracectl
