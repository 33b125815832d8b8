// SPDX-License-Identifier: BSD-2-Clause
//
// The verbs that show or store calls and events, live or from a file: graph, report, record, dump, show,
// export.
#pragma once

#include "client/verb_options.h"

namespace tracectl {

void add_graph(CLI::App& app, CommandLine& line);  // and report
void add_recordings(CLI::App& app, CommandLine& line);

// Settings that depend on several of their options, after all were read.
Status complete_graph(CommandLine& line);
Status complete_recordings(CommandLine& line);

}  // namespace tracectl
