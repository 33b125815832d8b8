// SPDX-License-Identifier: BSD-2-Clause
//
// The verbs that show calls and events as they come or out of a file: graph, report, record, dump, show,
// export.
#pragma once

#include "client/verb_options.h"

namespace tracectl {

void add_graph(CLI::App& app, CommandLine& line);  // and report
void add_recordings(CLI::App& app, CommandLine& line);

// What is made of several of their options, once all were read.
Status complete_graph(CommandLine& line);
Status complete_recordings(CommandLine& line);

}  // namespace tracectl
