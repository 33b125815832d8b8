// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <sys/epoll.h>
#include <systemd/sd-event.h>

#include <cstdint>
#include <functional>
#include <memory>

#include "daemon/base/fd.h"
#include "daemon/base/result.h"

struct sd_bus;

namespace tracectl {

// The control thread's loop, on sd-event. Used by one thread.
class EventLoop {
 public:
  static Result<EventLoop> open();

  static constexpr uint32_t kReadable = EPOLLIN;
  static constexpr uint32_t kWritable = EPOLLOUT;

  struct SourceDeleter {
    void operator()(sd_event_source* source) const { sd_event_source_disable_unref(source); }
  };
  using Source = std::unique_ptr<sd_event_source, SourceDeleter>;

  // Calls back while it lives. The callback may destroy its own watch.
  class Watch {
   public:
    Status set_events(uint32_t events);  // kReadable, kWritable

   private:
    friend class EventLoop;
    using Callback = std::function<void(uint32_t events)>;
    std::unique_ptr<Callback> callback_;
    Source source_;
  };

  // Calls back once for each set(), while it lives.
  class Timer {
   public:
    Status set(uint64_t boot_ns);  // replaces what was set; a time that has passed is now

   private:
    friend class EventLoop;
    std::unique_ptr<std::function<void()>> callback_;
    Source source_;
  };

  // Calls back once for each request, after the watches that are due now.
  class Later {
   public:
    void ask();

   private:
    friend class EventLoop;
    Fd event_;
    Watch watch_;
  };

  // An error or hang-up calls back whatever events were asked for.
  Result<Watch> watch(int fd, uint32_t events, std::function<void(uint32_t events)> callback);
  Result<Timer> timer(std::function<void()> callback);
  Result<Later> later(std::function<void()> callback);
  // Calls back while it lives. The signal must be blocked in every thread.
  class Signal {
   private:
    friend class EventLoop;
    std::unique_ptr<std::function<void()>> callback_;
    Source source_;
  };
  Result<Signal> on_signal(int signal, std::function<void()> callback);
  // SIGINT and SIGTERM, which must be blocked in every thread, end run().
  Status end_on_signals();
  // Notifies systemd's watchdog, if the unit has one, that the loop runs.
  Status feed_watchdog();

  // The loop handles the bus's messages until it is closed.
  Status serve(sd_bus& bus);

  // Returns after end().
  Status run();
  void end();

 private:
  struct LoopDeleter {
    void operator()(sd_event* event) const { sd_event_unref(event); }
  };
  std::unique_ptr<sd_event, LoopDeleter> event_;
};

}  // namespace tracectl
