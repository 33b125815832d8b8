// SPDX-License-Identifier: BSD-2-Clause
#include "client/export/export.h"

#include <algorithm>
#include <array>

#include "client/export/formats.h"

namespace tracectl {
namespace {

constexpr std::array kFormats = std::to_array<ExportFormat>({
    {"ctf", "Common Trace Format 1.8, a directory: babeltrace2, Trace Compass", true, open_ctf},
    {"perfetto", "protobuf: ui.perfetto.dev, trace_processor", false, open_perfetto},
    {"chrome", "Chrome's trace event JSON: chrome://tracing, speedscope", false, open_chrome},
    {"folded", "a line for each way of calls or stack: flamegraph.pl, inferno", false, open_folded},
    {"flamegraph", "a flame graph as SVG: browsers", false, open_flame_graph},
    {"pprof", "profile.proto, not compressed: pprof", false, open_pprof},
    {"csv", "a row for each event: spreadsheets, pandas, databases", false, open_csv},
    {"jsonl", "a JSON object for each event, as show --json prints them: jq", false,
     open_json_lines},
});

}  // namespace

std::span<const ExportFormat> export_formats() { return kFormats; }

const ExportFormat* find_export_format(std::string_view name) {
  const auto found = std::find_if(kFormats.begin(), kFormats.end(),
                                  [&](const ExportFormat& format) { return format.name == name; });
  return found == kFormats.end() ? nullptr : &*found;
}

}  // namespace tracectl
