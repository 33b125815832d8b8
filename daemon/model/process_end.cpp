// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/model/process_end.h"

#include <csignal>

namespace tracectl {
namespace {

bool is_within(int number, int least, int most) { return number >= least && number <= most; }

}  // namespace

void WatchedEnds::add_signal(int signal) {
  if (is_within(signal, 1, kMostSignal)) signals |= uint64_t{1} << (signal - 1);
}

void WatchedEnds::add_status(int status) {
  if (is_within(status, 0, kMostStatus))
    statuses[static_cast<size_t>(status) / 64] |= uint64_t{1} << (status % 64);
}

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
  if (end.signal) return is_within(end.signal, 1, kMostSignal) && signals >> (end.signal - 1) & 1;
  return is_within(end.status, 0, kMostStatus) &&
         statuses[static_cast<size_t>(end.status) / 64] >> (end.status % 64) & 1;
}

}  // namespace tracectl
