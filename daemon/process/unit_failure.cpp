// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/process/unit_failure.h"

#include <signal.h>

#include <string_view>

#include "daemon/base/signal_name.h"

namespace tracectl {
namespace {

// How the main process ended, if that explains more than the result alone.
std::optional<std::string> end_of_main(const UnitFailure& failure) {
  if (!failure.main_pid || !failure.main_ending) return std::nullopt;
  const std::string process = "its process " + std::to_string(*failure.main_pid);
  const Ending& ending = *failure.main_ending;
  if (failure.result == "exit-code" && ending.exit_code.value_or(0) != 0)
    return process + " exited with " + std::to_string(*ending.exit_code);
  if ((failure.result == "signal" || failure.result == "core-dump") && ending.signal)
    return process + " was killed by " + signal_name(*ending.signal);
  return std::nullopt;
}

// systemd.exec(5), $SERVICE_RESULT.
std::string cause_of(const UnitFailure& failure) {
  if (auto end = end_of_main(failure)) return *end;
  const std::string_view result = failure.result;
  if (result == "exit-code") return "a command of it exited with an error";
  if (result == "signal" || result == "core-dump") return "a process of it was killed by a signal";
  if (result == "oom-kill") return "the kernel killed a process of it for want of memory";
  if (result == "timeout") return "it took longer than systemd waits for it";
  if (result == "watchdog") return "it no longer told systemd's watchdog that it runs";
  if (result == "start-limit-hit") return "it was started too often";
  return "systemd calls its result \"" + failure.result + "\"";
}

// A unit that is being started is still `failed` for a moment, already in the new invocation, which
// has no result yet.
bool is_failed(const UnitState& state) {
  if (state.result == "success") return false;
  return state.active_state == "failed" || state.sub_state.starts_with("auto-restart");
}

std::optional<Ending> ending_of_main(const UnitState& state) {
  switch (state.exec_main_code) {
    case CLD_EXITED: return Ending{.exit_code = state.exec_main_status, .signal = {}};
    case CLD_KILLED:
    case CLD_DUMPED: return Ending{.exit_code = {}, .signal = state.exec_main_status};
    default: return std::nullopt;
  }
}

}  // namespace

std::string text(const UnitFailure& failure) {
  return "the unit " + failure.unit + " has failed: " + cause_of(failure);
}

std::optional<UnitFailure> UnitHistory::next(const UnitState& now) {
  if (!is_failed(now)) {
    // Without an invocation id, this is the only sign that the next failure is a new one.
    if (now.invocation_id.empty()) reported_.reset();
    return std::nullopt;
  }
  if (reported_ == now.invocation_id) return std::nullopt;
  reported_ = now.invocation_id;
  UnitFailure failure{.unit = now.id, .result = now.result, .main_pid = {}, .main_ending = {}};
  if (now.exec_main_pid > 0) {
    failure.main_pid = now.exec_main_pid;
    failure.main_ending = ending_of_main(now);
  }
  return failure;
}

}  // namespace tracectl
