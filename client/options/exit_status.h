// SPDX-License-Identifier: BSD-2-Clause
//
// The exit statuses of tracectl(1), all of them.
#pragma once

#include <array>

namespace tracectl {

enum ExitStatus {
  kDone = 0,
  kFailed = 1,
  kUsage = 2,
  kNoDaemon = 3,
  kDenied = 4,
  kNoMatch = 5,
  kNotThere = 6,
  kRefused = 7,
  kTroubleOfTracing = 125,
  kInterrupted = 130
};

struct ExitMeaning {
  ExitStatus status;
  const char* text;
};

// In the order of the numbers; the help and the manual page show them in these words.
inline constexpr std::array kExitMeanings = std::to_array<ExitMeaning>({
    {kDone, "Success"},
    {kFailed, "Failure"},
    {kUsage, "Bad usage, or a syntax error in a pattern or spec"},
    {kNoDaemon, "No daemon listens, and the verb needs one"},
    {kDenied, "Permission denied"},
    {kNoMatch, "No probe matches the pattern"},
    {kNotThere, "The target is not there, or maps nothing that fits OBJECT"},
    {kRefused, "Sites that match cannot be armed, or are many and want consent; none is armed"},
    {kTroubleOfTracing, "With --strict: tracing failed while the command ran, or did not see all"},
    {kInterrupted, "Interrupted"},
});

// A command that a signal has ended has this status, as in a shell, plus the signal's number.
inline constexpr int kEndedBySignal = 128;

}  // namespace tracectl
