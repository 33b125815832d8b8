// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <poll.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "daemon/base/fd.h"
#include "daemon/base/result.h"
#include "daemon/kernel/ring.h"
#include "daemon/kernel/rings.h"
#include "daemon/stream/batch.h"
#include "daemon/stream/decoder.h"
#include "daemon/stream/merger.h"

namespace tracectl {

struct ReaderStats {
  uint64_t events = 0;
  uint64_t bytes = 0;
  uint64_t dropped = 0;    // because a ring was full
  uint64_t malformed = 0;  // records that could not be decoded
  uint64_t sleeps = 0;     // how often the reader slept until an event woke it
};

// What the rings of all sessions yield. The vectors are kept for their memory.
struct ReadItems {
  std::vector<StreamItem> released;        // final, in order of time; of one session at a time
  std::vector<StackAddresses> key_stacks;  // that rows refer to
  Batch batch;
  ReaderStats stats;
};

// The rings of one session, read into one order of time, and the losses between their records. Used by one thread at a
// time.
class SessionStream {
 public:
  // Goes on where the rings were read before. `rings` is borrowed, the descriptors are taken.
  static Result<SessionStream> open(Rings& rings, uint32_t session, SessionRings fds);

  // Call them before a record can have the number.
  void add_source(uint32_t id, std::shared_ptr<const EventSource> source);
  void add_tag(uint32_t number, const std::string& tag);

  // How one pass reads.
  struct Way {
    bool in_one_order = true;  // of all CPUs; otherwise only of each
    bool past_merger = false;  // records that are in order already may go straight to `sinks`
    const Batch::Sinks& sinks;
  };
  void read(const Way& way, ReadItems& items);
  // Appends everything that was read, also what may not be final. Nothing may be read after that.
  void release_all(std::vector<StreamItem>& to) { merger_.release_all(to); }

  // Everything before this time was released.
  uint64_t bound_ns() const { return merger_.bound_ns(); }
  // No loss that is not reported yet is earlier.
  uint64_t since_ns() const;
  bool is_filling() const;
  void append_to(std::vector<pollfd>& polled) const;

 private:
  struct Lane {
    Ring ring;
    Fd fd;
    uint64_t since_ns;  // no unreported loss is earlier
    uint64_t seen_dropped = 0;
    KnownSource last_source = {};
    // While it is read straight, in one order with the others:
    uint64_t dropped = 0;    // by the ring, when it was looked at
    size_t final_count = 0;  // records that are final and still in the ring
    uint64_t next_ns = 0;    // the place of its next item; UINT64_MAX: there is none

    void seen_until(uint64_t ts_ns) { since_ns = std::max(since_ns, ts_ns); }
  };

  SessionStream(Rings& rings, uint32_t session, size_t cpus)
      : rings_(&rings), session_(session), merger_(cpus) {}
  void read(unsigned cpu, uint64_t looked_at_ns, const Way& way, ReadItems& items);
  enum class Looked { in_order, still_written, for_merger };
  Looked look_at_all(uint64_t looked_at_ns);
  bool read_in_one_order(const Batch::Sinks& sinks, ReadItems& items);
  void take_until(unsigned cpu, uint64_t until_ns, uint64_t looked_at_ns, const Batch::Sinks& sinks,
                  ReadItems& items);
  void note_looked(unsigned cpu, uint64_t looked_at_ns);
  bool read_straight(unsigned cpu, uint64_t looked_at_ns, const Batch::Sinks& sinks,
                     ReadItems& items);
  void take_straight(unsigned cpu, std::span<const std::byte> record, const Batch::Sinks& sinks,
                     ReadItems& items);
  bool take_hit(unsigned cpu, std::span<const std::byte> record, const Batch::Sinks& sinks,
                ReadItems& items);
  bool take_event(unsigned cpu, std::span<const std::byte> record, const Batch::Sinks& sinks,
                  ReadItems& items);
  bool read_to_merger(unsigned cpu, uint64_t looked_at_ns, bool leave_rest, ReadItems& items);
  Ring::End drain(unsigned cpu, size_t most, ReadItems& items);
  void add_record(unsigned cpu, std::span<const std::byte> bytes, ReaderStats& stats);
  void add_kept(unsigned ring, const KeptRecords& kept, ReaderStats& stats);
  void add_event(unsigned ring, DecodedRecord record, ReaderStats& stats);
  std::string text_of_tag(uint32_t number) const;
  void notice_loss(unsigned cpu, uint64_t dropped, uint64_t reported_ns, ReaderStats& stats);
  // The ring's losses since the last call, as reported by a record or by a look, at that time.
  std::optional<Lost> new_loss(unsigned cpu, uint64_t dropped, uint64_t reported_ns,
                               ReaderStats& stats);

  Rings* rings_;
  uint32_t session_;
  std::vector<Lane> lanes_;
  Merger merger_;
  std::vector<unsigned> unmerged_;  // CPUs, in read_in_one_order(); kept for its memory
  Sources sources_;
  std::vector<std::string> tags_;  // by number
};

}  // namespace tracectl
