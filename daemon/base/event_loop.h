// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <sys/epoll.h>
#include <systemd/sd-event.h>

#include <cstdint>
#include <functional>
#include <memory>

#include "daemon/base/result.h"

namespace tracectl {

// The control thread's loop, on sd-event. Used by one thread.
class EventLoop {
 public:
  static Result<EventLoop> open();

  static constexpr uint32_t kReadable = EPOLLIN;
  static constexpr uint32_t kWritable = EPOLLOUT;

  // Calls back while it lives. The callback may destroy its own watch.
  class Watch {
   public:
    Status set_events(uint32_t events);  // kReadable, kWritable

   private:
    friend class EventLoop;
    using Callback = std::function<void(uint32_t events)>;
    struct SourceDeleter {
      void operator()(sd_event_source* source) const { sd_event_source_disable_unref(source); }
    };
    std::unique_ptr<Callback> callback_;
    std::unique_ptr<sd_event_source, SourceDeleter> source_;
  };

  // An error or hang-up calls back whatever was asked for.
  Result<Watch> watch(int fd, uint32_t events, std::function<void(uint32_t events)> callback);
  // SIGINT and SIGTERM, which must be blocked in every thread, end run().
  Status end_on_signals();
  // Tells systemd's watchdog, where the unit has one, that the loop turns.
  Status feed_watchdog();

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
