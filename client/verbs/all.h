// SPDX-License-Identifier: BSD-2-Clause
//
// The verbs of tracectl, in the order of its help. Each of these functions adds one, or the few that its comment names,
// and is in the file of its name.
#pragma once

#include "client/verbs/grammar.h"

namespace tracectl {

void add_list(Grammar grammar);
void add_trace(Grammar grammar);
void add_count(Grammar grammar);  // and hist, time, latency
void add_stacks(Grammar grammar);
void add_offcpu(Grammar grammar);
void add_info(Grammar grammar);
void add_graph(Grammar grammar);
void add_report(Grammar grammar);
void add_record(Grammar grammar);
void add_recorder(Grammar grammar);
void add_dump(Grammar grammar);
void add_show(Grammar grammar);
void add_export(Grammar grammar);
void add_recipe(Grammar grammar);
void add_session(Grammar grammar);
void add_stage(Grammar grammar);  // and commit, abort
void add_pause(Grammar grammar);  // and resume, restart
void add_read(Grammar grammar);
void add_watch(Grammar grammar);
void add_flush(Grammar grammar);
void add_join(Grammar grammar);
void add_top(Grammar grammar);
void add_ui(Grammar grammar);
void add_daemon(Grammar grammar);  // status, stats, metrics, doctor, schema

inline void add_all_verbs(Grammar grammar) {
  grammar.part("To look:", {"tracectl list 'libc:mem*' -p 4711", "tracectl top"});
  add_list(grammar);
  add_info(grammar);
  add_top(grammar);
  add_ui(grammar);
  grammar.part(
      "To measure:",
      {"tracectl time parse_request -p 4711",
       "tracectl count 'usdt:*postgres*:postgresql:query__*' -u postgresql@15-main --for 10s"});
  add_trace(grammar);
  add_count(grammar);
  add_stacks(grammar);
  add_offcpu(grammar);
  add_graph(grammar);
  add_recipe(grammar);
  grammar.part("To record, and to read what was recorded:",
               {"tracectl record 'myapp::*' -o out.tct -- ./myapp",
                "tracectl report out.tct --html out.html"});
  add_record(grammar);
  add_show(grammar);
  add_report(grammar);
  add_export(grammar);
  add_recorder(grammar);
  add_dump(grammar);
  grammar.part("Sessions, which stay when the command ends:",
               {"tracectl session new mine --saved",
                "tracectl stage mine set 'u::parse_*' -p 4711 && tracectl commit mine"});
  add_session(grammar);
  add_stage(grammar);
  add_pause(grammar);
  add_read(grammar);
  add_watch(grammar);
  add_flush(grammar);
  add_join(grammar);
  grammar.part("The daemon and the machine:", {"tracectl status", "tracectl doctor"});
  add_daemon(grammar);
}

}  // namespace tracectl
