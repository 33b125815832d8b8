// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/base/event_loop.h"

#include <signal.h>

namespace tracectl {
namespace {

int call_back(sd_event_source*, int, uint32_t events, void* data) {
  // A copy: the callback may destroy the watch it belongs to.
  const auto callback = *static_cast<std::function<void(uint32_t)>*>(data);
  callback(events);
  return 0;
}

Status check(int result, const char* what) {
  if (result < 0) return Error::from_errno(what, -result);
  return ok();
}

}  // namespace

Result<EventLoop> EventLoop::open() {
  EventLoop loop;
  sd_event* event = nullptr;
  if (int err = sd_event_new(&event); err < 0) return Error::from_errno("event loop", -err);
  loop.event_.reset(event);
  return loop;
}

Result<EventLoop::Watch> EventLoop::watch(int fd, uint32_t events,
                                          std::function<void(uint32_t)> callback) {
  Watch watch;
  watch.callback_ = std::make_unique<Watch::Callback>(std::move(callback));
  sd_event_source* source = nullptr;
  const int err =
      sd_event_add_io(event_.get(), &source, fd, events, call_back, watch.callback_.get());
  if (err < 0) return Error::from_errno("watch a descriptor", -err);
  watch.source_.reset(source);
  return watch;
}

Status EventLoop::Watch::set_events(uint32_t events) {
  return check(sd_event_source_set_io_events(source_.get(), events), "watch a descriptor");
}

Status EventLoop::end_on_signals() {
  for (const int signal : {SIGINT, SIGTERM}) {
    auto added = check(sd_event_add_signal(event_.get(), nullptr, signal, nullptr, nullptr),
                       "wait for signals");
    if (!added) return added;
  }
  return ok();
}

Status EventLoop::feed_watchdog() {
  return check(sd_event_set_watchdog(event_.get(), 1), "feed the watchdog");
}

Status EventLoop::run() { return check(sd_event_loop(event_.get()), "event loop"); }

void EventLoop::end() { sd_event_exit(event_.get(), 0); }

}  // namespace tracectl
