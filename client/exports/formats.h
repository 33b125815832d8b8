// SPDX-License-Identifier: BSD-2-Clause
//
// How each of export_formats() is opened.
#pragma once

#include <memory>
#include <string>

#include "client/exports/export.h"

namespace tracectl {

using OpenedExport = Result<std::unique_ptr<Export>>;

// The Common Trace Format, version 1.8.3 (diamon.org/ctf/v1.8.3): a stream for each CPU. What the
// ring or a writer lost is told as events that were discarded.
OpenedExport open_ctf(const std::string& path, const Recorded& recorded);
// Perfetto's trace packets (perfetto.dev/docs/reference/trace-packet-proto): calls are slices of their
// threads, other events instants.
OpenedExport open_perfetto(const std::string& path, const Recorded& recorded);
// The Trace Event Format of Chrome, as a JSON object.
OpenedExport open_chrome(const std::string& path, const Recorded& recorded);
// These three need calls of a graph, which are weighed by the time of their own, or stacks, which are
// counted; finish() refuses what has neither.
OpenedExport open_folded(const std::string& path, const Recorded& recorded);
OpenedExport open_flame_graph(const std::string& path, const Recorded& recorded);
// github.com/google/pprof, proto/profile.proto.
OpenedExport open_pprof(const std::string& path, const Recorded& recorded);
// RFC 4180, with a head; lines end with LF.
OpenedExport open_csv(const std::string& path, const Recorded& recorded);
OpenedExport open_json_lines(const std::string& path, const Recorded& recorded);

}  // namespace tracectl
