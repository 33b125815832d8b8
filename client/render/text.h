// SPDX-License-Identifier: BSD-2-Clause
//
// Replies and events as text.
#pragma once

#include <cstdio>
#include <string>

#include "client/options/options.h"
#include "daemon/base/result.h"
#include "daemon/model/event.h"
#include "daemon/protocol/messages.h"

namespace tracectl {

// "1 probe", "2 probes"
std::string plural(uint64_t count, const char* noun);

// Of each table where nobody has said how many and standard output is not a terminal.
inline constexpr size_t kRowsForPrograms = 1000;
// "3 more rows", of a table of which only the first `shown` are printed, on a line of its own.
std::string more_rows_text(size_t more, size_t shown);

// How long a switch took, and how long after the store each CPU saw it.
std::string figures_text(const protocol::PhasesPart& phases,
                         const std::vector<protocol::SkewPart>& skew);

// 742 ns, 12.3 us, 4.56 ms, 7.89 s: three figures.
std::string duration_text(uint64_t ns);

// The error, its position (a caret under it), and the remedy; ends with a line feed.
std::string error_text(const Error& error);
ExitStatus exit_status_of(const Error& error);

// Of a file that ran before it was armed.
std::string unseen_text(const protocol::FollowedPart& followed);
std::string refusals_text(const std::vector<Refusal>& refused);
std::string notes_text(const std::vector<std::string>& notes);
// "PROBE: 812,345 hits a second cost 98 % of a CPU, the budget is 5 %"
std::string left_out_text(const protocol::LeftOutPart& left_out);
std::string sessions_text(const protocol::SessionListReply& reply);
// What was left out for lack of a proof; empty if nothing was.
std::string unproven_text(const protocol::UnprovenPart& unproven);
std::string session_text(const protocol::SessionPart& session);
std::string info_text(const protocol::ProbeInfoReply& reply);
// `timings`: also of the switch's phases, and when each CPU had its first hit.
std::string commit_text(const protocol::CommitReply& reply, bool timings);
std::string switch_text(const protocol::SwitchReply& reply, bool timings);
std::string status_text(const protocol::StatusReply& reply);
std::string stats_text(const protocol::StatsReply& reply);
std::string doctor_text(const protocol::DoctorReply& reply);

// Why the stack ends there; empty if it is complete.
const char* reason_text(StackEnd end);

// One frame per line, indented, and why the stack ends there.
std::string stack_text(const Stack& stack);

// One line: time, process, probe, arguments; below it the stack, one frame per line. `start_ns` is the time
// that is shown as 0.
std::string event_text(const Event& event, const std::string& probe_name, uint64_t start_ns);
std::string lost_text(const Lost& lost, uint64_t start_ns);
// The losses of a recording: "3 lost".
std::string lost_sum_text(uint64_t lost, bool is_end_known);
inline constexpr const char* kUnknownEnd =
    "its end is unknown, and later events may be missing: it is still being recorded, or its "
    "writer was "
    "killed";

}  // namespace tracectl
