// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/model/process_end.h"

#include <csignal>

namespace tracectl {

void WatchedEnds::add_crashes() {
  for (const int signal : {SIGQUIT, SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGFPE, SIGSEGV, SIGXCPU,
                           SIGXFSZ, SIGSYS, SIGKILL})
    add_signal(signal);
}

void WatchedEnds::add(const WatchedEnds& more) {
  signals |= more.signals;
  for (size_t i = 0; i < statuses.size(); ++i) statuses[i] |= more.statuses[i];
}

bool WatchedEnds::has(const ProcessEnd& end) const {
  if (end.signal) return signals >> (end.signal - 1) & 1;
  return statuses[static_cast<size_t>(end.status) / 64] >> (end.status % 64) & 1;
}

}  // namespace tracectl
