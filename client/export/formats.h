// SPDX-License-Identifier: BSD-2-Clause
//
// The formats: each has a function that opens it, in a file of its own, and a line in the table.
#pragma once

#include <array>
#include <memory>
#include <string>

#include "client/export/export.h"

namespace tracectl {

using OpenedExport = Result<std::unique_ptr<Export>>;

// The Common Trace Format, version 1.8.3 (diamon.org/ctf/v1.8.3): a stream for each CPU. Losses in the ring
// and in writers are reported as discarded events.
OpenedExport open_ctf(const std::string& path, const Recorded& recorded);
// Perfetto's trace packets (perfetto.dev/docs/reference/trace-packet-proto): calls are slices on the tracks
// of their threads, other events are instants.
OpenedExport open_perfetto(const std::string& path, const Recorded& recorded);
// The Trace Event Format of Chrome, as a JSON object.
OpenedExport open_chrome(const std::string& path, const Recorded& recorded);
// These three need the calls of a graph, which are weighted by their own time, or stacks, which are counted;
// finish() fails if the recording has neither.
OpenedExport open_folded(const std::string& path, const Recorded& recorded);
OpenedExport open_flame_graph(const std::string& path, const Recorded& recorded);
// github.com/google/pprof, proto/profile.proto.
OpenedExport open_pprof(const std::string& path, const Recorded& recorded);
// RFC 4180, with a header line; lines end with LF.
OpenedExport open_csv(const std::string& path, const Recorded& recorded);
OpenedExport open_json_lines(const std::string& path, const Recorded& recorded);

// In the order of listings.
inline constexpr std::array kExportFormats = std::to_array<ExportFormat>({
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

}  // namespace tracectl
