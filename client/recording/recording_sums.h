// SPDX-License-Identifier: BSD-2-Clause
//
// Recordings that are summed up: trace files, and what graph --json and trace --json print.
#pragma once

#include <cstdint>
#include <string>

#include "client/options/options.h"
#include "client/render/call_tree.h"
#include "daemon/base/result.h"
#include "daemon/spec/event_sums.h"

namespace tracectl {

// For events that are not calls.
inline constexpr const char* kUsualEventSums = "count, time";

// What a recording comes to.
struct RecordingSums {
  CallTree calls;
  EventSums events = *EventSums::parse(kUsualEventSums);  // used until there are calls
  uint64_t lost = 0;
  uint64_t other_lines = 0;
  uint64_t left_out = 0;  // probes that were left out from some moment on
  bool is_end_known = true;
  bool has_events = false;
  bool has_calls = false;
};

// Adds a recording; "-": lines from standard input. Reports on standard error what it lacks.
Status read_sums(const CommonOptions& common, const std::string& file, RecordingSums& sums);
// The same; an error if it has no calls.
Status read_calls(const CommonOptions& common, const std::string& file, RecordingSums& sums);
Error no_calls_in(const std::string& file);

}  // namespace tracectl
