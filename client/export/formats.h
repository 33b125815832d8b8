// SPDX-License-Identifier: BSD-2-Clause
//
// How to open each of export_formats().
#pragma once

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

}  // namespace tracectl
