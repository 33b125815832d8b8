// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "daemon/base/result.h"
#include "daemon/kernel/rings.h"
#include "daemon/sessions/quotas.h"
#include "daemon/sessions/saving.h"
#include "daemon/sessions/sessions.h"
#include "daemon/stream/reader.h"

namespace tracectl {

// The rings of sessions, and those who get their events.
class Streams {
 public:
  // All but the numbers are borrowed. `cpu_count`: as in Kernel; `ring_bytes`: of each CPU and session.
  Streams(Rings& rings, unsigned cpu_count, EventReader& reader, Sessions& sessions,
          const Quotas& quotas, Saving& saving, size_t ring_bytes)
      : rings_(rings),
        cpu_count_(cpu_count),
        reader_(reader),
        sessions_(sessions),
        quotas_(quotas),
        saving_(saving),
        ring_bytes_(ring_bytes) {}

  // A subscriber may come before the first setting with events.
  Status subscribe(const std::string& session, Subscriber subscriber);
  void unsubscribe(const std::string& session, const EventSink* sink);

  // As in EventReader, for the session's number.
  Result<uint64_t> flush(const std::string& session);
  Result<uint64_t> ask_flush(const std::string& session);
  // Holds for a session that is gone, because it has no more events.
  Result<bool> is_flushed(const std::string& session, uint64_t asked_ns) const;
  int flushed_fd() const { return reader_.flushed_fd(); }

  // Stops reading rings. When it returns, the sinks have everything that was read.
  void end() { reader_.end(); }
  // Call it after that: notes events that did not reach a subscriber of the session. If the session is saved, its next
  // subscriber is informed.
  void note_unsent(const std::string& session, uint64_t events);

  ReaderStats stats() const { return reader_.stats(); }
  size_t rings_open() const;

  // ---- for commits, deletion and restoring ----
  // Gives the session rings, unless it has some.
  Status open(Session& session);
  // Takes the session's rings away, if it has some.
  void close(Session& session);
  // Continues with rings that a former daemon has read.
  Status restore(Session& session, SessionRings rings);
  // Stops reading the session's rings, and leaves them in force.
  void leave(Session& session);

 private:
  void opened(Session& session);

  Rings& rings_;
  const unsigned cpu_count_;
  EventReader& reader_;
  Sessions& sessions_;
  const Quotas& quotas_;
  Saving& saving_;
  const size_t ring_bytes_;
};

}  // namespace tracectl
