// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/base/event_loop.h"

#include <signal.h>
#include <sys/eventfd.h>
#include <systemd/sd-bus.h>
#include <unistd.h>

namespace tracectl {
namespace {

int call_back(sd_event_source*, int, uint32_t events, void* data) {
  // A copy: the callback may destroy the watch it belongs to.
  const auto callback = *static_cast<std::function<void(uint32_t)>*>(data);
  callback(events);
  return 0;
}

int call_back_at(sd_event_source*, uint64_t, void* data) {
  (*static_cast<std::function<void()>*>(data))();
  return 0;
}

int call_back_for(sd_event_source*, const signalfd_siginfo*, void* data) {
  (*static_cast<std::function<void()>*>(data))();
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

Result<EventLoop::Timer> EventLoop::timer(std::function<void()> callback) {
  Timer timer;
  timer.callback_ = std::make_unique<std::function<void()>>(std::move(callback));
  sd_event_source* source = nullptr;
  int err = sd_event_add_time(event_.get(), &source, CLOCK_BOOTTIME, 0, 0, call_back_at,
                              timer.callback_.get());
  timer.source_.reset(source);
  if (err >= 0) err = sd_event_source_set_enabled(source, SD_EVENT_OFF);
  if (err < 0) return Error::from_errno("timer", -err);
  return timer;
}

Status EventLoop::Timer::set(uint64_t boot_ns) {
  constexpr uint64_t kNsPerUs = 1000;
  const uint64_t us = (boot_ns + kNsPerUs - 1) / kNsPerUs;  // not before the time
  const int err = sd_event_source_set_time(source_.get(), us);
  return check(err < 0 ? err : sd_event_source_set_enabled(source_.get(), SD_EVENT_ONESHOT),
               "set a timer");
}

// Uses a descriptor, which becomes readable in the next turn of the loop, after everything that this turn
// found. A deferred source of sd-event would run before that.
Result<EventLoop::Later> EventLoop::later(std::function<void()> callback) {
  Later later;
  later.event_ = Fd{::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
  if (!later.event_) return Error::from_errno("eventfd");
  const int fd = later.event_.get();
  auto watched = watch(fd, kReadable, [fd, callback = std::move(callback)](uint32_t) {
    uint64_t count = 0;
    (void)!::read(fd, &count, sizeof(count));
    callback();
  });
  if (!watched) return watched.error();
  later.watch_ = std::move(*watched);
  return later;
}

void EventLoop::Later::ask() {
  const uint64_t one = 1;
  (void)!::write(event_.get(), &one, sizeof(one));
}

Result<EventLoop::Signal> EventLoop::on_signal(int number, std::function<void()> callback) {
  Signal signal;
  signal.callback_ = std::make_unique<std::function<void()>>(std::move(callback));
  sd_event_source* source = nullptr;
  const int err =
      sd_event_add_signal(event_.get(), &source, number, call_back_for, signal.callback_.get());
  if (err < 0) return Error::from_errno("wait for signals", -err);
  signal.source_.reset(source);
  return signal;
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

Status EventLoop::serve(sd_bus& bus) {
  return check(sd_bus_attach_event(&bus, event_.get(), SD_EVENT_PRIORITY_NORMAL),
               "take the messages of a bus");
}

Status EventLoop::run() { return check(sd_event_loop(event_.get()), "event loop"); }

void EventLoop::end() { sd_event_exit(event_.get(), 0); }

}  // namespace tracectl
