// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/stream/reader.h"

#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "daemon/base/clock.h"

namespace tracectl {
namespace {

constexpr int kPollMs = 1;
constexpr int kNoSinkMs = 1000;  // if a stream waits for a sink, and may be read by then
constexpr int kFillingMs = 10;   // if it has a recorder, which must read it before a ring is full
constexpr int kIdlePasses = 50;
constexpr int kLateFlushMs = 100;  // between checks for late flushes
constexpr uint64_t kSubscribersComeNs = 30'000'000'000;
// How long an event waits for its stack (a flush waits for it, too); and how many items of one
// session may wait after it.
constexpr uint64_t kStackPatienceNs = 600'000'000;
constexpr size_t kMostOrdersAtOnce = 256;
constexpr size_t kMostHeld = 1 << 14, kMostHeldBytes = 32 << 20;
constexpr const char* kUnknownTag = "?";  // for a tag of the program that no longer exists

// How many records in the ring are final and can be taken in their order (merger.h). None if
// they are not in order, or if some cannot be decoded on their own.
std::optional<size_t> final_records(const Ring& ring, uint64_t looked_at_ns) {
  size_t count = 0;
  uint64_t last_ns = 0;
  const Ring::End end = ring.look([&](std::span<const std::byte> record) {
    const auto ts_ns = time_of_plain_record(record);
    if (!ts_ns || *ts_ns < last_ns) return false;
    last_ns = *ts_ns;
    count += last_ns < looked_at_ns;
    return true;
  });
  return end == Ring::End::drained ? std::optional(count) : std::nullopt;
}

bool any_is_awaited(const std::vector<std::shared_ptr<EventSink>>& sinks) {
  return std::any_of(sinks.begin(), sinks.end(),
                     [](const auto& sink) { return sink->is_awaited(); });
}

// The control thread handles signals.
class SignalsBlocked {
 public:
  SignalsBlocked() {
    sigset_t all;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~SignalsBlocked() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_;
};

}  // namespace

Result<std::unique_ptr<EventReader>> EventReader::start(Rings& rings, Symbolizer& symbolizer) {
  Fd wake{::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)},
      flushed{::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
  if (!wake || !flushed) return Error::from_errno("eventfd");
  std::unique_ptr<EventReader> reader{
      new EventReader(rings, symbolizer, std::move(wake), std::move(flushed))};
  const SignalsBlocked blocked;
  reader->thread_ = std::thread([raw = reader.get()] { raw->run(); });
  return reader;
}

EventReader::EventReader(Rings& rings, Symbolizer& symbolizer, Fd wake, Fd flushed)
    : rings_(rings),
      symbolizer_(symbolizer),
      wake_(std::move(wake)),
      flushed_(std::move(flushed)) {}

EventReader::~EventReader() { end(); }

void EventReader::end() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  wake();
  if (!thread_.joinable()) return;
  thread_.join();
  release_all();
}

// Later records stay in the rings, for the next daemon. Stacks that are not resolved by now are
// addresses.
void EventReader::release_all() {
  const std::lock_guard lock(mutex_);
  for (auto& [session, stream] : streams_) {
    released_.clear();
    stream.merger.release_all(released_);
    hold_stacks(stream);
    StackOrders late;
    for (const HeldItem& held : stream.held)
      if (held.order && !held.order->stack) late.push_back(held.order);
    symbolizer_.give_up(late);
    release_held(stream);
    give(session, stream);
  }
}

void EventReader::wake() {
  const uint64_t one = 1;
  // Fails only if the counter is full, and then the reader is awake.
  (void)!::write(wake_.get(), &one, sizeof(one));
}

// ---- called by the control thread ----

Status EventReader::open(uint32_t session, SessionRings rings, const std::optional<Owner>& owner) {
  for (unsigned cpu = 0; cpu < rings.by_cpu.size(); ++cpu)
    rings_.note_seen(session, cpu, {0, boot_ns()});
  rings_.note_untold(session, 0);
  return open(session, std::move(rings), owner, 0);
}

Status EventReader::restore(uint32_t session, SessionRings rings,
                            const std::optional<Owner>& owner) {
  return open(session, std::move(rings), owner, boot_ns() + kSubscribersComeNs);
}

Status EventReader::open(uint32_t session, SessionRings rings, const std::optional<Owner>& owner,
                         uint64_t sink_comes_by_ns) {
  Stream stream(rings.by_cpu.size());
  stream.owner = owner;
  stream.sink_comes_by_ns = sink_comes_by_ns;
  stream.untold = rings_.untold(session);
  for (Fd& fd : rings.by_cpu) {
    auto ring = Ring::open(fd.get(), rings.size_bytes);
    if (!ring) return ring.error();
    const auto cpu = static_cast<unsigned>(stream.lanes.size());
    const auto seen = rings_.seen(session, cpu);
    stream.lanes.push_back(Lane{std::move(*ring), std::move(fd), seen.until_ns, seen.dropped});
  }
  const std::lock_guard lock(mutex_);
  stream.opened = ++streams_opened_;
  streams_.insert_or_assign(session, std::move(stream));
  wake();
  return ok();
}

void EventReader::close(uint32_t session) {
  const std::lock_guard lock(mutex_);
  streams_.erase(session);
  if (streams_.empty()) {
    key_orders_.clear();
    symbolizer_.rest();
  }
  wake();
}

void EventReader::add_source(uint32_t session, uint32_t id,
                             std::shared_ptr<const EventSource> source) {
  const std::lock_guard lock(mutex_);
  if (auto stream = streams_.find(session); stream != streams_.end())
    stream->second.sources.emplace(id, std::move(source));
}

void EventReader::add_tag(uint32_t session, uint32_t number, const std::string& tag) {
  const std::lock_guard lock(mutex_);
  const auto stream = streams_.find(session);
  if (stream == streams_.end()) return;
  auto& tags = stream->second.tags;
  if (tags.size() <= number) tags.resize(number + 1);
  tags[number] = tag;
}

void EventReader::subscribe(uint32_t session, Subscriber subscriber) {
  const std::lock_guard lock(mutex_);
  const auto stream = streams_.find(session);
  if (stream == streams_.end()) return;
  if (subscriber.per_cpu && !subscriber.per_cpu->needs_one_order())
    stream->second.per_cpu_sinks.push_back(std::move(subscriber.per_cpu));
  stream->second.sinks.push_back(std::move(subscriber.sink));
  if (stream->second.sink_comes_by_ns) wake();
}

void EventReader::unsubscribe(uint32_t session, const EventSink* sink) {
  const std::lock_guard lock(mutex_);
  const auto stream = streams_.find(session);
  if (stream == streams_.end()) return;
  const auto is_it = [&](const auto& one) { return one.get() == sink; };
  std::erase_if(stream->second.per_cpu_sinks, is_it);
  std::erase_if(stream->second.sinks, is_it);
}

uint64_t EventReader::ask_flush(uint32_t session) {
  const uint64_t asked_ns = boot_ns();
  const std::lock_guard lock(mutex_);
  if (const auto stream = streams_.find(session); stream != streams_.end())
    stream->second.wanted_ns = asked_ns + 1;
  flushes_.push_back({session, asked_ns});
  wake();
  return asked_ns;
}

Result<bool> EventReader::is_flushed(uint32_t session, uint64_t asked_ns) const {
  const std::lock_guard lock(mutex_);
  if (has_passed(session, asked_ns)) return true;
  const auto is_it = [&](const AskedFlush& one) {
    return one.session == session && one.asked_ns == asked_ns;
  };
  // A flush that was reported stays done, even if has_passed() is false again: late items may have
  // an earlier time, or the number may be another session's by now.
  if (boot_ns() < asked_ns + kFlushLimitNs)
    return std::none_of(flushes_.begin(), flushes_.end(), is_it);
  return Error{Code::busy, "a thread has been stopped in the middle of writing an event for " +
                               std::to_string(kFlushLimitNs / 1'000'000'000) + " s; try again"};
}

Result<uint64_t> EventReader::flush(uint32_t session) {
  const uint64_t asked_ns = ask_flush(session);
  {
    std::unique_lock lock(mutex_);
    passed_.wait_for(lock, std::chrono::nanoseconds(kFlushLimitNs),
                     [&] { return has_passed(session, asked_ns); });
  }
  const auto flushed = is_flushed(session, asked_ns);
  if (!flushed) return flushed.error();
  return asked_ns;
}

bool EventReader::has_passed(uint32_t session, uint64_t asked_ns) const {
  const auto stream = streams_.find(session);
  return stream == streams_.end() || stream->second.released_ns > asked_ns;
}

ReaderStats EventReader::stats() const {
  const std::lock_guard lock(mutex_);
  return stats_;
}

// ---- the thread ----

// The last pass begins after the end was requested, so everything that fired before is read.
void EventReader::run() {
  int idle_passes = kIdlePasses;  // there is no stream yet, so nothing to look for
  for (;;) {
    bool is_last = false;
    {
      const std::lock_guard lock(mutex_);
      is_last = stop_;
    }
    if (pass())
      idle_passes = 0;
    else
      ++idle_passes;
    if (is_last) return;
    if (idle_passes < kIdlePasses) {
      wait(kPollMs);
    } else {
      sleep_until_event();
      idle_passes = 0;
    }
  }
}

// Returns whether there was anything.
bool EventReader::pass() {
  std::unique_lock lock(mutex_);
  bool any = false;
  // Streams can be added and removed in a pass, which unlocks.
  for (auto at = streams_.begin(); at != streams_.end();) {
    const uint32_t session = at->first;
    if (!waits_for_sink(session, at->second)) any |= pass(session, lock);
    at = streams_.upper_bound(session);
  }
  passed_.notify_all();
  tell_flushed();
  return any;
}

// Reports each flush once, also late ones: if a thread was stopped while writing an event, a flush
// is never done.
void EventReader::tell_flushed() {
  const auto is_over = [&](const AskedFlush& asked) {
    return has_passed(asked.session, asked.asked_ns) || boot_ns() > asked.asked_ns + kFlushLimitNs;
  };
  const uint64_t over = std::erase_if(flushes_, is_over);
  if (over) (void)!::write(flushed_.get(), &over, sizeof(over));
}

bool EventReader::waits_for_sink(uint32_t session, Stream& stream) {
  const bool came = any_is_awaited(stream.sinks);
  if (stream.sink_comes_by_ns && (came || boot_ns() > stream.sink_comes_by_ns))
    end_waiting(session, stream, came);
  if (came && stream.untold) tell_untold(session, stream);
  if (!stream.sink_comes_by_ns || stream.released_ns < stream.wanted_ns) return false;
  const bool is_filling = std::any_of(stream.lanes.begin(), stream.lanes.end(),
                                      [](const Lane& lane) { return lane.ring.is_half_full(); });
  return stream.sinks.empty() || !is_filling;
}

// A client that comes later subscribes for the first time, and has missed nothing.
void EventReader::end_waiting(uint32_t session, Stream& stream, bool came) {
  stream.sink_comes_by_ns = 0;
  if (came) stream.untold += stream.missed;
  stream.missed = 0;
  rings_.note_untold(session, stream.untold);
}

// The loss is placed before everything that is still in the rings.
void EventReader::tell_untold(uint32_t session, Stream& stream) {
  uint64_t since_ns = stream.lanes.front().since_ns;
  for (const Lane& lane : stream.lanes) since_ns = std::min(since_ns, lane.since_ns);
  const StreamItem lost =
      Lost{since_ns, std::exchange(stream.untold, 0), LossCause::slow_client, {}};
  for (const auto& sink : stream.sinks)
    if (sink->is_awaited()) sink->take({&lost, 1});
  rings_.note_untold(session, 0);
}

// Passes the released items to the sinks.
void EventReader::give(uint32_t session, Stream& stream) {
  if (released_.empty()) return;
  for (const auto& sink : stream.sinks) sink->take(released_);
  if (!stream.sink_comes_by_ns) return;
  for (const StreamItem& item : released_) {
    const auto* lost = std::get_if<Lost>(&item);
    stream.missed += lost ? lost->count : 1;
  }
  rings_.note_untold(session, stream.untold + stream.missed);
}

int EventReader::longest_sleep_ms() const {
  const std::lock_guard lock(mutex_);
  int longest_ms = flushes_.empty() ? -1 : kLateFlushMs;
  for (const auto& [session, stream] : streams_) {
    if (!stream.sink_comes_by_ns) continue;
    if (!stream.sinks.empty()) return kFillingMs;
    if (longest_ms < 0) longest_ms = kNoSinkMs;
  }
  return longest_ms;
}

// For each ring it reads the clock first, then the losses, then the ring. So all losses before the
// time of the look are known. A loss is placed where it may have begun: at the last record before
// it, or at the last look. Thus released items include all losses of their time, also those of
// other rings, however many events these rings have brought since.
bool EventReader::pass(uint32_t session, std::unique_lock<std::mutex>& lock) {
  Stream& stream = streams_.at(session);
  const uint64_t began_ns = boot_ns();
  const uint64_t events_before = stats_.events + stats_.dropped;
  // Also if released items must be counted.
  const bool one_order =
      stream.per_cpu_sinks.size() < stream.sinks.size() || stream.sink_comes_by_ns != 0;
  released_.clear();
  // Otherwise the rings count losses until there is room here.
  if (stream.held.size() < kMostHeld && stream.held_bytes < kMostHeldBytes) {
    for (unsigned cpu = 0; cpu < stream.lanes.size(); ++cpu) read(session, stream, cpu, one_order);
    if (one_order) stream.merger.release(released_);
    stream.read_until_ns = std::min(stream.merger.bound_ns(), began_ns);
  }
  const bool any = !released_.empty() || stats_.events + stats_.dropped != events_before;
  hold_stacks(stream);
  order_key_stacks();
  if (!make_stacks(session, stream.opened, lock)) return any;
  if (!stream.held.empty()) release_held(stream);
  give(session, stream);
  stream.released_ns = stream.read_until_ns;
  for (const HeldItem& held : stream.held)
    stream.released_ns = std::min(stream.released_ns, ts_of(held.item));
  return any || awaits_stacks();
}

// Holds released items, from the first one with a stack on.
void EventReader::hold_stacks(Stream& stream) {
  const auto raw_of = [](StreamItem& item) {
    auto* event = std::get_if<Event>(&item);
    return event ? std::exchange(event->raw_stack, nullptr) : nullptr;
  };
  size_t kept = 0;
  for (StreamItem& item : released_) {
    auto raw = raw_of(item);
    if (!raw && stream.held.empty()) {
      ++kept;
      continue;
    }
    HeldItem held{std::move(item), nullptr};
    if (raw) {
      stream.held_bytes += raw->bytes.size();
      held.order = std::make_shared<StackOrder>(
          StackOrder{std::get<Event>(held.item).pid, std::move(raw), boot_ns(), stream.owner});
    }
    stream.held.push_back(std::move(held));
  }
  released_.erase(released_.begin() + static_cast<std::ptrdiff_t>(kept), released_.end());
}

// Orders these stacks now, while their processes live.
void EventReader::order_key_stacks() {
  if (key_stacks_.empty()) return;
  for (const StackAddresses& of : std::exchange(key_stacks_, {}))
    if (key_orders_.size() < kMostHeld)
      if (auto order = Symbolizer::order_of(of)) key_orders_.push_back(std::move(order));
}

bool EventReader::awaits_stacks() const {
  return !key_orders_.empty() ||
         std::any_of(streams_.begin(), streams_.end(),
                     [](const auto& stream) { return !stream.second.held.empty(); });
}

// Unlocks, so that callers of the reader do not wait for this. Returns false if the stream was
// closed meanwhile.
bool EventReader::make_stacks(uint32_t session, uint64_t opened,
                              std::unique_lock<std::mutex>& lock) {
  StackOrders orders = key_orders_;
  for (const HeldItem& held : streams_.at(session).held) {
    if (!held.order || held.order->stack) continue;
    if (orders.size() >= key_orders_.size() + kMostOrdersAtOnce) break;
    orders.push_back(held.order);
  }
  if (orders.empty()) return true;
  StackOrders late;
  std::copy_if(orders.begin(), orders.end(), std::back_inserter(late),
               [](const auto& order) { return boot_ns() - order->since_ns > kStackPatienceNs; });
  lock.unlock();
  symbolizer_.go_on(orders);
  if (!late.empty()) symbolizer_.give_up(late);
  lock.lock();
  std::erase_if(key_orders_, [](const auto& order) { return order->stack != nullptr; });
  if (streams_.empty()) symbolizer_.rest();  // again, because it has just read programs
  const auto stream = streams_.find(session);
  return stream != streams_.end() && stream->second.opened == opened;
}

// Releases items up to the first whose stack is not ready.
void EventReader::release_held(Stream& stream) {
  auto& held = stream.held;
  for (; !held.empty() && (!held.front().order || held.front().order->stack); held.pop_front()) {
    if (const auto& order = held.front().order) {
      std::get<Event>(held.front().item).stack = order->stack;
      stream.held_bytes -= order->raw->bytes.size();
    }
    released_.push_back(std::move(held.front().item));
  }
}

void EventReader::read(uint32_t session, Stream& stream, unsigned cpu, bool one_order) {
  const uint64_t looked_at_ns = boot_ns();
  const uint64_t dropped = rings_.dropped(session, cpu);
  const bool straight =
      !one_order && stream.held.empty() && read_straight(stream, cpu, looked_at_ns);
  if (straight || drain(stream, cpu) == Ring::End::drained) {
    notice_loss(stream, cpu, dropped, looked_at_ns);
    Lane& lane = stream.lanes[cpu];
    lane.seen_until(looked_at_ns);
    rings_.note_seen(session, cpu, {lane.seen_dropped, lane.since_ns});
    stream.merger.drained(cpu, looked_at_ns);
  }
  if (!one_order) stream.merger.release(cpu, released_);
}

// Passes records to the sinks without the merger, because most rings are in order already. Records
// that came after the look stay in the ring: earlier ones may still be added. Returns false if the
// records must go through the merger.
bool EventReader::read_straight(Stream& stream, unsigned cpu, uint64_t looked_at_ns) {
  if (!stream.merger.is_empty(cpu)) return false;
  Ring& ring = stream.lanes[cpu].ring;
  const auto count = final_records(ring, looked_at_ns);
  if (!count) return false;
  ring.drain(*count,
             [&](std::span<const std::byte> record) { take_straight(stream, cpu, record); });
  batch_.hand_over(stream.per_cpu_sinks);
  return true;
}

void EventReader::take_straight(Stream& stream, unsigned cpu, std::span<const std::byte> record) {
  stats_.bytes += record.size();
  if (take_hit(stream, cpu, record) || take_event(stream, cpu, record))
    ++stats_.events;
  else
    ++stats_.malformed;
}

bool EventReader::take_hit(Stream& stream, unsigned cpu, std::span<const std::byte> record) {
  Lane& lane = stream.lanes[cpu];
  PlainHit& hit = batch_.begin_hit();
  const auto marks = decode_plain_hit(hit, record, cpu, stream.sources, lane.last_source);
  if (!marks) return false;
  if (const auto lost = new_loss(lane, cpu, marks->ring_dropped, hit.ts_ns))
    batch_.add(*lost, stream.per_cpu_sinks);
  lane.seen_until(hit.ts_ns);
  batch_.keep_hit(stream.per_cpu_sinks);
  return true;
}

bool EventReader::take_event(Stream& stream, unsigned cpu, std::span<const std::byte> record) {
  Lane& lane = stream.lanes[cpu];
  Event& event = batch_.begin_event();
  const auto marks = decode_record_into(event, record, cpu, stream.sources);
  if (!marks) return false;
  if (marks->tag) event.tag = text_of_tag(stream, marks->tag);
  if (const auto lost = new_loss(lane, cpu, marks->ring_dropped, event.ts_ns))
    batch_.add(*lost, stream.per_cpu_sinks);
  lane.seen_until(event.ts_ns);
  batch_.keep_event(stream.per_cpu_sinks);
  return true;
}

Ring::End EventReader::drain(Stream& stream, unsigned cpu) {
  return stream.lanes[cpu].ring.drain([&](std::span<const std::byte> bytes) {
    stats_.bytes += bytes.size();
    if (auto stack = decode_key_stack(bytes))
      key_stacks_.push_back(std::move(*stack));
    else if (const auto kept = decode_kept(bytes))
      add_kept(stream, cpu, *kept);
    else
      add_record(stream, cpu, bytes);
  });
}

void EventReader::add_record(Stream& stream, unsigned cpu, std::span<const std::byte> bytes) {
  auto record = decode_record(bytes, cpu, stream.sources);
  if (!record) {
    ++stats_.malformed;
    return;
  }
  notice_loss(stream, cpu, record->ring_dropped, record->event.ts_ns);
  stream.lanes[cpu].seen_until(record->event.ts_ns);
  add_event(stream, cpu, std::move(*record));
}

// The records are from before the end of the call, so they are late: much of their time has been
// released.
void EventReader::add_kept(Stream& stream, unsigned ring, const KeptRecords& kept) {
  notice_loss(stream, ring, kept.ring_dropped, kept.ts_ns);
  stream.lanes[ring].seen_until(kept.ts_ns);
  for (const WaitedRecord& waited : kept.records) {
    if (auto record = decode_record(waited.bytes, waited.cpu, stream.sources))
      add_event(stream, ring, std::move(*record));
    else
      ++stats_.malformed;
  }
  if (!kept.lost) return;
  stats_.dropped += kept.lost;
  stream.merger.add(ring, Lost{kept.ts_ns, kept.lost, LossCause::held_full, ring});
}

void EventReader::add_event(Stream& stream, unsigned ring, DecodedRecord record) {
  ++stats_.events;
  record.event.tag = text_of_tag(stream, record.tag);
  stream.merger.add(ring, std::move(record.event));
}

std::string EventReader::text_of_tag(const Stream& stream, uint32_t number) const {
  if (number & TC_OWN_TAG) return rings_.own_tag(number).value_or(kUnknownTag);
  return number < stream.tags.size() ? stream.tags[number] : "";
}

std::optional<Lost> EventReader::new_loss(Lane& lane, unsigned cpu, uint64_t dropped,
                                          uint64_t told_ns) {
  if (dropped <= lane.seen_dropped) return std::nullopt;
  const uint64_t count = dropped - std::exchange(lane.seen_dropped, dropped);
  stats_.dropped += count;
  return Lost{std::min(lane.since_ns, told_ns), count, LossCause::ring_full, cpu};
}

void EventReader::notice_loss(Stream& stream, unsigned cpu, uint64_t dropped, uint64_t told_ns) {
  if (const auto lost = new_loss(stream.lanes[cpu], cpu, dropped, told_ns))
    stream.merger.add(cpu, *lost);
}

// The order matters: it first asks the programs for a wake-up, and then looks at the rings once
// more. That look sees a record reserved before the request; one reserved after it causes the
// wake-up.
void EventReader::sleep_until_event() {
  rings_.set_reader_sleeps(true);
  if (!pass()) {
    {
      const std::lock_guard lock(mutex_);
      ++stats_.sleeps;
    }
    wait(longest_sleep_ms());
  }
  rings_.set_reader_sleeps(false);
}

// Returns true unless the timeout ended the wait.
bool EventReader::wait(int timeout_ms) {
  std::vector<pollfd> fds{{wake_.get(), POLLIN, 0}};
  {
    const std::lock_guard lock(mutex_);
    if (awaits_stacks()) fds.push_back({symbolizer_.fd(), POLLIN, 0});
  }
  if (timeout_ms != kPollMs) {
    const std::lock_guard lock(mutex_);
    for (const auto& [session, stream] : streams_)
      if (!stream.sink_comes_by_ns)
        for (const Lane& lane : stream.lanes) fds.push_back({lane.fd.get(), POLLIN, 0});
  }
  const int ready = ::poll(fds.data(), fds.size(), timeout_ms);
  uint64_t count = 0;
  if (fds[0].revents) (void)!::read(wake_.get(), &count, sizeof(count));
  return ready > 0;
}

}  // namespace tracectl
