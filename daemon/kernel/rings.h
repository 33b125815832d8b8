// SPDX-License-Identifier: BSD-2-Clause
//
// The kernel's door for events: the rings of sessions, what they had no room for, and how far they were read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "bpf/abi.h"
#include "daemon/base/fd.h"
#include "daemon/base/result.h"

namespace tracectl {

// The rings of one session, one for each CPU. Closing them frees their memory.
struct SessionRings {
  std::vector<Fd> by_cpu;
  size_t size_bytes = 0;  // of each
};

// Only the control thread may open and close rings; any thread may call the rest. It owns nothing: who opens rings
// gets them, and the memory belongs to whoever made this object. Only open() can fail, with the errno of the kernel.
class Rings {
 public:
  // Memory shared with the programs, borrowed.
  struct Shared {
    std::span<tc_ring_loss> losses;  // by session and CPU
    std::span<const tc_own_tag> own_tags;
    __u32& reader_sleeps;
  };
  // `map`: the table in which the programs find their rings. Borrowed.
  Rings(int map, unsigned cpu_count, const Shared& shared)
      : map_(map), cpu_count_(cpu_count), shared_(shared) {
    set_reader_sleeps(false);
  }

  Result<SessionRings> open(uint32_t session, size_t size_bytes);
  // Takes the rings from the programs. Readers may still hold their descriptors.
  void close(uint32_t session);

  // The records for which this ring had no room.
  uint64_t dropped(uint32_t session, unsigned cpu) const;
  // How many of them the ring's reader has reported, from which the reader of the next daemon goes on.
  struct Seen {
    uint64_t dropped = 0;  // reported
    uint64_t until_ns = 0;
  };
  void note_seen(uint32_t session, unsigned cpu, const Seen& seen);
  Seen seen(uint32_t session, unsigned cpu) const;
  // Events that were read from the session's rings and did not reach its subscriber. They are reported to the next
  // subscriber, maybe by the next daemon.
  void note_unreported(uint32_t session, uint64_t events);
  uint64_t unreported(uint32_t session) const;

  // While true, the next record in any ring wakes its reader.
  void set_reader_sleeps(bool sleeps);
  // The tag with this number in a record. None if so many others came since that it was overwritten.
  std::optional<std::string> own_tag(uint32_t number) const;

 private:
  uint32_t index_of(uint32_t session, unsigned cpu) const { return session * cpu_count_ + cpu; }

  int map_;
  unsigned cpu_count_;
  Shared shared_;
};

}  // namespace tracectl
