// SPDX-License-Identifier: BSD-2-Clause
//
// The verbs of tracectl, in the order of its help.
#pragma once

#include "client/verbs/grammar.h"

namespace tracectl {

void add_tracing(Grammar grammar);     // list, trace, count, hist, time, latency, stacks, info
void add_graphs(Grammar grammar);      // graph, report
void add_recordings(Grammar grammar);  // record, dump, show, export
void add_recipes(Grammar grammar);
void add_sessions(Grammar grammar);  // session, stage, commit, abort, pause, resume, restart
void add_results(Grammar grammar);   // read, watch, flush, top
void add_daemon(Grammar grammar);    // status, stats, metrics, doctor, schema

inline void add_all_verbs(Grammar grammar) {
  add_tracing(grammar);
  add_graphs(grammar);
  add_recordings(grammar);
  add_recipes(grammar);
  add_sessions(grammar);
  add_results(grammar);
  add_daemon(grammar);
}

}  // namespace tracectl
