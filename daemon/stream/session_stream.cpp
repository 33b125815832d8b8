// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/stream/session_stream.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "daemon/base/clock.h"

namespace tracectl {
namespace {

constexpr const char* kUnknownTag = "?";  // for a tag of the program that no longer exists

struct FinalRecords {
  Ring::End end = Ring::End::drained;
  size_t count = 0;
};

// How many records in the ring are final and can be taken in their order (merger.h). `stopped` if they are not in
// order, or if some cannot be decoded on their own.
FinalRecords final_records(const Ring& ring, uint64_t looked_at_ns) {
  FinalRecords final;
  uint64_t last_ns = 0;
  final.end = ring.look([&](std::span<const std::byte> bytes) {
    const auto record = look_at_plain_record(bytes);
    if (!record || record->ts_ns < last_ns) return false;
    last_ns = record->ts_ns;
    final.count += last_ns < looked_at_ns;
    return true;
  });
  return final;
}

}  // namespace

Result<SessionStream> SessionStream::open(Rings& rings, uint32_t session, SessionRings fds) {
  SessionStream stream(rings, session, fds.by_cpu.size());
  for (Fd& fd : fds.by_cpu) {
    auto ring = Ring::open(fd.get(), fds.size_bytes);
    if (!ring) return ring.error();
    const auto cpu = static_cast<unsigned>(stream.lanes_.size());
    const auto seen = rings.seen(session, cpu);
    stream.lanes_.push_back(Lane{std::move(*ring), std::move(fd), seen.until_ns, seen.dropped});
  }
  return stream;
}

void SessionStream::add_source(uint32_t id, std::shared_ptr<const EventSource> source) {
  sources_.emplace(id, std::move(source));
}

void SessionStream::add_tag(uint32_t number, const std::string& tag) {
  if (tags_.size() <= number) tags_.resize(number + 1);
  tags_[number] = tag;
}

uint64_t SessionStream::since_ns() const {
  uint64_t since_ns = lanes_.front().since_ns;
  for (const Lane& lane : lanes_) since_ns = std::min(since_ns, lane.since_ns);
  return since_ns;
}

bool SessionStream::is_filling() const {
  return std::any_of(lanes_.begin(), lanes_.end(),
                     [](const Lane& lane) { return lane.ring.is_half_full(); });
}

void SessionStream::append_to(std::vector<pollfd>& polled) const {
  for (const Lane& lane : lanes_) polled.push_back({lane.fd.get(), POLLIN, 0});
}

// For each ring it reads the clock first, then the losses, then the ring. So all losses before the
// time of the look are known. A loss is placed where it may have begun: at the last record before
// it, or at the last look. Thus released items include all losses of their time, also those of
// other rings, however many events these rings have brought since.
void SessionStream::read(const Way& way, ReadItems& items) {
  if (way.in_one_order && way.past_merger && read_in_one_order(way.sinks, items)) return;
  const uint64_t looked_at_ns = boot_ns();
  for (unsigned cpu = 0; cpu < lanes_.size(); ++cpu) read(cpu, looked_at_ns, way, items);
  if (way.in_one_order) merger_.release(items.released);
}

void SessionStream::read(unsigned cpu, uint64_t looked_at_ns, const Way& way, ReadItems& items) {
  const uint64_t dropped = rings_->dropped(session_, cpu);
  // In one order all CPUs go past the merger, or none.
  const bool straight =
      way.past_merger && !way.in_one_order && read_straight(cpu, looked_at_ns, way.sinks, items);
  if (straight || read_to_merger(cpu, looked_at_ns, way.past_merger, items)) {
    notice_loss(cpu, dropped, looked_at_ns, items.stats);
    note_looked(cpu, looked_at_ns);
  }
  if (!way.in_one_order) merger_.release(cpu, items.released);
}

// Everything before this time was taken from the ring, with its losses.
void SessionStream::note_looked(unsigned cpu, uint64_t looked_at_ns) {
  Lane& lane = lanes_[cpu];
  lane.seen_until(looked_at_ns);
  rings_->note_seen(session_, cpu, {lane.seen_dropped, lane.since_ns});
  merger_.drained(cpu, looked_at_ns);
}

// ---- past the merger, in one order of all CPUs ----

// Passes what is final in all rings to the sinks, the earliest first, as the merger would. Returns false if the records
// must go through the merger.
bool SessionStream::read_in_one_order(const Batch::Sinks& sinks, ReadItems& items) {
  const uint64_t looked_at_ns = boot_ns();
  const Looked looked = look_at_all(looked_at_ns);
  if (looked != Looked::in_order) return looked == Looked::still_written;
  const auto next_of = [this](unsigned cpu) { return lanes_[cpu].next_ns; };
  const auto has_none = [&](unsigned cpu) { return next_of(cpu) == UINT64_MAX; };
  unmerged_.clear();
  for (unsigned cpu = 0; cpu < lanes_.size(); ++cpu) {
    take_until(cpu, 0, looked_at_ns, sinks, items);
    if (!has_none(cpu)) unmerged_.push_back(cpu);
  }
  while (!unmerged_.empty()) {
    const auto first = std::ranges::min_element(unmerged_, {}, next_of);
    std::iter_swap(first, unmerged_.begin());
    uint64_t until_ns = UINT64_MAX - 1;
    for (const unsigned other : std::span(unmerged_).subspan(1))
      until_ns = std::min(until_ns, next_of(other));
    take_until(unmerged_.front(), until_ns, looked_at_ns, sinks, items);
    if (has_none(unmerged_.front())) unmerged_.erase(unmerged_.begin());
  }
  items.batch.hand_over(sinks);
  for (unsigned cpu = 0; cpu < lanes_.size(); ++cpu) note_looked(cpu, looked_at_ns);
  return true;
}

// While a record is still being written nothing is final. All records are left in the rings, if these have room, because
// records in the merger take more memory and time.
SessionStream::Looked SessionStream::look_at_all(uint64_t looked_at_ns) {
  Looked looked = Looked::in_order;
  for (unsigned cpu = 0; cpu < lanes_.size(); ++cpu) {
    Lane& lane = lanes_[cpu];
    if (!merger_.is_empty(cpu)) return Looked::for_merger;
    lane.dropped = rings_->dropped(session_, cpu);
    const auto [end, count] = final_records(lane.ring, looked_at_ns);
    lane.final_count = count;
    if (end == Ring::End::busy)
      looked = Looked::still_written;
    else if (end != Ring::End::drained)
      return Looked::for_merger;
  }
  return looked == Looked::still_written && is_filling() ? Looked::for_merger : looked;
}

// Takes what has its place before this time, at least one item if any has; then next_ns is the place of the one after.
// The place of a loss is the end of what is known to be whole.
void SessionStream::take_until(unsigned cpu, uint64_t until_ns, uint64_t looked_at_ns,
                               const Batch::Sinks& sinks, ReadItems& items) {
  Lane& lane = lanes_[cpu];
  lane.next_ns = UINT64_MAX;
  // Whether it is to be taken now.
  const auto is_next = [&](uint64_t place_ns) {
    if (place_ns <= until_ns) return true;
    lane.next_ns = place_ns;
    return false;
  };
  const auto take_losses = [&](uint64_t dropped, uint64_t reported_ns) {
    if (dropped <= lane.seen_dropped) return true;
    if (!is_next(std::min(lane.since_ns, reported_ns))) return false;
    items.batch.add(*new_loss(cpu, dropped, reported_ns, items.stats), sinks);
    return true;
  };
  lane.ring.drain_while([&](std::span<const std::byte> bytes) {
    if (lane.final_count == 0) return false;
    const auto record = look_at_plain_record(bytes);
    if (!take_losses(record->ring_dropped, record->ts_ns) || !is_next(record->ts_ns)) return false;
    --lane.final_count;
    take_straight(cpu, bytes, sinks, items);
    return true;
  });
  if (lane.final_count == 0) take_losses(lane.dropped, looked_at_ns);
}

// ---- past the merger, in the order of one CPU ----

// Passes records to the sinks without the merger, because most rings are in order already. Records
// that came after the look stay in the ring: earlier ones may still be added. Returns false if the
// records must go through the merger.
bool SessionStream::read_straight(unsigned cpu, uint64_t looked_at_ns, const Batch::Sinks& sinks,
                                  ReadItems& items) {
  if (!merger_.is_empty(cpu)) return false;
  Ring& ring = lanes_[cpu].ring;
  const auto [end, count] = final_records(ring, looked_at_ns);
  if (end != Ring::End::drained) return false;
  ring.drain(count,
             [&](std::span<const std::byte> record) { take_straight(cpu, record, sinks, items); });
  items.batch.hand_over(sinks);
  return true;
}

void SessionStream::take_straight(unsigned cpu, std::span<const std::byte> record,
                                  const Batch::Sinks& sinks, ReadItems& items) {
  items.stats.bytes += record.size();
  if (take_hit(cpu, record, sinks, items) || take_event(cpu, record, sinks, items))
    ++items.stats.events;
  else
    ++items.stats.malformed;
}

bool SessionStream::take_hit(unsigned cpu, std::span<const std::byte> record,
                             const Batch::Sinks& sinks, ReadItems& items) {
  Lane& lane = lanes_[cpu];
  PlainHit& hit = items.batch.begin_hit();
  const auto marks = decode_plain_hit(hit, record, cpu, sources_, lane.last_source);
  if (!marks) return false;
  if (const auto lost = new_loss(cpu, marks->ring_dropped, hit.ts_ns, items.stats))
    items.batch.add(*lost, sinks);
  lane.seen_until(hit.ts_ns);
  items.batch.keep_hit(sinks);
  return true;
}

bool SessionStream::take_event(unsigned cpu, std::span<const std::byte> record,
                               const Batch::Sinks& sinks, ReadItems& items) {
  Lane& lane = lanes_[cpu];
  Event& event = items.batch.begin_event();
  const auto marks = decode_record_into(event, record, cpu, sources_);
  if (!marks) return false;
  if (marks->tag) event.tag = text_of_tag(marks->tag);
  if (const auto lost = new_loss(cpu, marks->ring_dropped, event.ts_ns, items.stats))
    items.batch.add(*lost, sinks);
  lane.seen_until(event.ts_ns);
  items.batch.keep_event(sinks);
  return true;
}

// ---- through the merger ----

// With `leave_rest`, what came after the look stays in a ring that is in order: the merger is empty sooner, and the next
// passes need none. Returns whether everything before the look was taken.
bool SessionStream::read_to_merger(unsigned cpu, uint64_t looked_at_ns, bool leave_rest,
                                   ReadItems& items) {
  if (leave_rest) {
    const auto [end, count] = final_records(lanes_[cpu].ring, looked_at_ns);
    if (end == Ring::End::drained) {
      drain(cpu, count, items);
      return true;
    }
  }
  return drain(cpu, SIZE_MAX, items) == Ring::End::drained;
}

Ring::End SessionStream::drain(unsigned cpu, size_t most, ReadItems& items) {
  return lanes_[cpu].ring.drain(most, [&](std::span<const std::byte> bytes) {
    items.stats.bytes += bytes.size();
    if (auto stack = decode_key_stack(bytes))
      items.key_stacks.push_back(std::move(*stack));
    else if (const auto kept = decode_kept(bytes))
      add_kept(cpu, *kept, items.stats);
    else
      add_record(cpu, bytes, items.stats);
  });
}

void SessionStream::add_record(unsigned cpu, std::span<const std::byte> bytes, ReaderStats& stats) {
  auto record = decode_record(bytes, cpu, sources_);
  if (!record) {
    ++stats.malformed;
    return;
  }
  notice_loss(cpu, record->ring_dropped, record->event.ts_ns, stats);
  lanes_[cpu].seen_until(record->event.ts_ns);
  add_event(cpu, std::move(*record), stats);
}

// The records are from before the end of the call, so they are late: much of their time has been
// released.
void SessionStream::add_kept(unsigned ring, const KeptRecords& kept, ReaderStats& stats) {
  notice_loss(ring, kept.ring_dropped, kept.ts_ns, stats);
  lanes_[ring].seen_until(kept.ts_ns);
  for (const WaitedRecord& waited : kept.records) {
    if (auto record = decode_record(waited.bytes, waited.cpu, sources_))
      add_event(ring, std::move(*record), stats);
    else
      ++stats.malformed;
  }
  if (!kept.lost) return;
  stats.dropped += kept.lost;
  merger_.add(ring, Lost{kept.ts_ns, kept.lost, LossCause::held_full, ring});
}

void SessionStream::add_event(unsigned ring, DecodedRecord record, ReaderStats& stats) {
  ++stats.events;
  record.event.tag = text_of_tag(record.tag);
  merger_.add(ring, std::move(record.event));
}

std::string SessionStream::text_of_tag(uint32_t number) const {
  if (number & TC_OWN_TAG) return rings_->own_tag(number).value_or(kUnknownTag);
  return number < tags_.size() ? tags_[number] : "";
}

std::optional<Lost> SessionStream::new_loss(unsigned cpu, uint64_t dropped, uint64_t reported_ns,
                                            ReaderStats& stats) {
  Lane& lane = lanes_[cpu];
  if (dropped <= lane.seen_dropped) return std::nullopt;
  const uint64_t count = dropped - std::exchange(lane.seen_dropped, dropped);
  stats.dropped += count;
  // The end is the time of now and not of the record: its program may have been preempted between
  // the clock and the count of losses.
  return Lost{std::min(lane.since_ns, reported_ns), count, LossCause::ring_full, cpu, boot_ns()};
}

void SessionStream::notice_loss(unsigned cpu, uint64_t dropped, uint64_t reported_ns,
                                ReaderStats& stats) {
  if (const auto lost = new_loss(cpu, dropped, reported_ns, stats)) merger_.add(cpu, *lost);
}

}  // namespace tracectl
