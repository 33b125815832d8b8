// SPDX-License-Identifier: BSD-2-Clause
#include <fmt/format.h>
#include <algorithm>
#include <string>

#include "client/export/export.h"
#include "client/output/output.h"
#include "client/recording/trace_file.h"
#include "client/render/table.h"
#include "client/render/text.h"
#include "client/verbs/all.h"
#include "daemon/protocol/codec.h"
#include "daemon/protocol/written_file.h"

namespace tracectl {
namespace {

struct ExportChoice {
  std::string file;
  std::string format;  // empty: list the formats
  std::string output;
};

int list_formats(const CommonOptions& common) {
  if (common.json) {
    protocol::ExportFormatsPart part;
    for (const ExportFormat& format : export_formats()) part.formats.emplace_back(format.name);
    print(protocol::text_of(protocol::to_json(part)) + "\n");
    return kDone;
  }
  Table table({{"FORMAT"}, {"WHAT READS IT"}});
  for (const ExportFormat& format : export_formats()) table.add({format.name, format.tells});
  print(table.text());
  return kDone;
}

std::string names_of_formats() {
  std::string names;
  for (const ExportFormat& format : export_formats())
    names += (names.empty() ? "" : ", ") + std::string(format.name);
  return names;
}

Result<const ExportFormat*> chosen_format(const CommonOptions& common, const ExportChoice& choice) {
  const ExportFormat* format = find_export_format(choice.format);
  if (!format)
    return Error{Code::invalid,
                 "there is no format \"" + choice.format + "\"; there are: " + names_of_formats()};
  if (choice.file.empty()) return Error{Code::invalid, "which trace file? Put it before --to"};
  if (choice.output.empty())
    return Error{Code::invalid,
                 std::string("where to? Add -o ") + (format->is_directory ? "DIRECTORY" : "FILE")};
  if (format->is_directory && choice.output == "-")
    return Error{Code::invalid,
                 std::string(format->name) +
                     " is a directory and cannot be written to standard output: name one with -o"};
  if (common.json && choice.output == "-")
    return Error{Code::invalid,
                 "with --json standard output says what was written: name a file with -o"};
  return format;
}

Recorded recorded_by(const recording::Reader& reader) {
  return {.id = reader.header().id,
          .wall_minus_boot_ns = reader.header().wall_minus_boot_ns,
          .first_ns = reader.first_ns(),
          .last_ns = std::max(reader.first_ns(), reader.last_ns()),
          .most_arguments = reader.most_arguments()};
}

Status add(Export& to, const StreamItem& item, protocol::WrittenFilePart& sums) {
  if (const auto* lost = std::get_if<Lost>(&item)) {
    sums.lost += lost->count;
    return to.add(*lost);
  }
  ++sums.events;
  return to.add(std::get<Event>(item));
}

Result<protocol::WrittenFilePart> exported(const CommonOptions& common, const ExportChoice& choice,
                                           const ExportFormat& format) {
  auto reader = open_trace_file(choice.file);
  if (!reader) return reader.error();
  if (auto other = check_other_file(choice.file, choice.output); !other) return other.error();
  auto to = format.open(choice.output, recorded_by(*reader));
  if (!to) return to.error();
  protocol::WrittenFilePart sums{.file = choice.output, .format = std::string(format.name)};
  if (!reader->is_end_known()) sums.unknown_end = true;
  Status added = ok();
  auto read = read_events(common, choice.file, *reader, {}, [&](const StreamItem& item) {
    added = add(**to, item, sums);
    return added.has_value();
  });
  if (!read) return read.error();
  if (!added) return added.error();
  if (auto finished = (*to)->finish(); !finished) return finished.error();
  report_damage(choice.file, *reader);
  return sums;
}

class ExportRecording final : public Verb {
 public:
  void add_options(Grammar& grammar) override {
    const Option file = grammar.option("FILE", choice_.file, "the trace file");
    grammar.option("--to", choice_.format, "the format; without FORMAT all are listed")
        .value_name("[FORMAT]")
        .expects(0, 1)
        .required();
    grammar
        .option("-o,--output", choice_.output,
                "where it goes: a file, or a directory that is not there yet; -: standard output")
        .value_name("FILE")
        .needs(file);
  }
  int run(const CommonOptions& common) override {
    if (choice_.format.empty()) return list_formats(common);
    auto format = chosen_format(common, choice_);
    if (!format) return fail(format.error()), kUsage;
    auto sums = exported(common, choice_, **format);
    if (!sums) return fail(sums.error());
    if (common.json)
      print(protocol::text_of(protocol::to_json(*sums)) + "\n");
    else if (!common.quiet)
      print_error(fmt::format("{}: {}, {}\n", choice_.output, plural(sums->events, "event"),
                              lost_sum_text(sums->lost, !sums->unknown_end.value_or(false))));
    return kDone;
  }

 private:
  ExportChoice choice_;
};

}  // namespace

void add_export(Grammar grammar) {
  grammar.verb<ExportRecording>("export", "a trace file in the format of another tool");
}

}  // namespace tracectl
