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
// How long an event waits for its stack; a flush waits for it, too.
constexpr uint64_t kStackPatienceNs = 600'000'000;
constexpr size_t kMostOrdersAtOnce = 256;
constexpr size_t kMostKeyOrders = 1 << 14;

bool any_is_awaited(const std::vector<std::shared_ptr<EventSink>>& sinks) {
  return std::any_of(sinks.begin(), sinks.end(),
                     [](const auto& sink) { return sink->is_awaited(); });
}

bool any_needs_one_order(const Batch::Sinks& sinks) {
  return std::any_of(sinks.begin(), sinks.end(),
                     [](const auto& sink) { return sink->needs_one_order(); });
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
    items_.released.clear();
    stream.rings.release_all(items_.released);
    stream.held.hold(items_.released, stream.owner);
    StackOrders late;
    stream.held.append_orders(late, SIZE_MAX);
    symbolizer_.give_up(late);
    stream.held.release(items_.released);
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
  rings_.note_unreported(session, 0);
  return open(session, std::move(rings), owner, 0);
}

Status EventReader::restore(uint32_t session, SessionRings rings,
                            const std::optional<Owner>& owner) {
  return open(session, std::move(rings), owner, boot_ns() + kSubscribersComeNs);
}

Status EventReader::open(uint32_t session, SessionRings rings, const std::optional<Owner>& owner,
                         uint64_t sink_comes_by_ns) {
  auto opened = SessionStream::open(rings_, session, std::move(rings));
  if (!opened) return opened.error();
  Stream stream(std::move(*opened));
  stream.owner = owner;
  stream.sink_comes_by_ns = sink_comes_by_ns;
  stream.unreported = rings_.unreported(session);
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
    stream->second.rings.add_source(id, std::move(source));
}

void EventReader::add_tag(uint32_t session, uint32_t number, const std::string& tag) {
  const std::lock_guard lock(mutex_);
  if (auto stream = streams_.find(session); stream != streams_.end())
    stream->second.rings.add_tag(number, tag);
}

void EventReader::subscribe(uint32_t session, Subscriber subscriber) {
  const std::lock_guard lock(mutex_);
  const auto stream = streams_.find(session);
  if (stream == streams_.end()) return;
  if (subscriber.hits) stream->second.hit_sinks.push_back(std::move(subscriber.hits));
  stream->second.sinks.push_back(std::move(subscriber.sink));
  if (stream->second.sink_comes_by_ns) wake();
}

void EventReader::unsubscribe(uint32_t session, const EventSink* sink) {
  const std::lock_guard lock(mutex_);
  const auto stream = streams_.find(session);
  if (stream == streams_.end()) return;
  const auto is_it = [&](const auto& one) { return one.get() == sink; };
  std::erase_if(stream->second.hit_sinks, is_it);
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
  return items_.stats;
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
  report_flushed();
  return any;
}

// Reports each flush once, also late ones: if a thread was stopped while writing an event, a flush
// is never done.
void EventReader::report_flushed() {
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
  if (came && stream.unreported) report_unreported(session, stream);
  if (!stream.sink_comes_by_ns || stream.released_ns < stream.wanted_ns) return false;
  return stream.sinks.empty() || !stream.rings.is_filling();
}

// A client that comes later subscribes for the first time, and has missed nothing.
void EventReader::end_waiting(uint32_t session, Stream& stream, bool came) {
  stream.sink_comes_by_ns = 0;
  if (came) stream.unreported += stream.missed;
  stream.missed = 0;
  rings_.note_unreported(session, stream.unreported);
}

// The loss is placed before everything that is still in the rings.
void EventReader::report_unreported(uint32_t session, Stream& stream) {
  const StreamItem lost = Lost{
      stream.rings.since_ns(), std::exchange(stream.unreported, 0), LossCause::slow_client, {}};
  for (const auto& sink : stream.sinks)
    if (sink->is_awaited()) sink->take({&lost, 1});
  rings_.note_unreported(session, 0);
}

// Passes the released items to the sinks.
void EventReader::give(uint32_t session, Stream& stream) {
  if (items_.released.empty()) return;
  for (const auto& sink : stream.sinks) sink->take(items_.released);
  if (!stream.sink_comes_by_ns) return;
  for (const StreamItem& item : items_.released) {
    const auto* lost = std::get_if<Lost>(&item);
    stream.missed += lost ? lost->count : 1;
  }
  rings_.note_unreported(session, stream.unreported + stream.missed);
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

bool EventReader::pass(uint32_t session, std::unique_lock<std::mutex>& lock) {
  Stream& stream = streams_.at(session);
  const uint64_t began_ns = boot_ns();
  const ReaderStats& stats = items_.stats;
  const uint64_t events_before = stats.events + stats.dropped;
  // Not if released items must be counted.
  const bool all_take_hits =
      stream.hit_sinks.size() == stream.sinks.size() && stream.sink_comes_by_ns == 0;
  items_.released.clear();
  // Otherwise the rings count losses until there is room here.
  if (stream.held.has_room()) {
    stream.rings.read({.in_one_order = !all_take_hits || any_needs_one_order(stream.hit_sinks),
                       .past_merger = all_take_hits && stream.held.is_empty(),
                       .sinks = stream.hit_sinks},
                      items_);
    stream.read_until_ns = std::min(stream.rings.bound_ns(), began_ns);
  }
  const bool any = !items_.released.empty() || stats.events + stats.dropped != events_before;
  stream.held.hold(items_.released, stream.owner);
  order_key_stacks();
  if (!make_stacks(session, stream.opened, lock)) return any;
  stream.held.release(items_.released);
  give(session, stream);
  stream.released_ns = stream.held.earliest_ns(stream.read_until_ns);
  return any || awaits_stacks();
}

// Orders these stacks now, while their processes live.
void EventReader::order_key_stacks() {
  if (items_.key_stacks.empty()) return;
  for (const StackAddresses& of : std::exchange(items_.key_stacks, {}))
    if (key_orders_.size() < kMostKeyOrders)
      if (auto order = Symbolizer::order_of(of)) key_orders_.push_back(std::move(order));
}

bool EventReader::awaits_stacks() const {
  return !key_orders_.empty() ||
         std::any_of(streams_.begin(), streams_.end(),
                     [](const auto& stream) { return !stream.second.held.is_empty(); });
}

// Unlocks, so that callers of the reader do not wait for this. Returns false if the stream was
// closed meanwhile.
bool EventReader::make_stacks(uint32_t session, uint64_t opened,
                              std::unique_lock<std::mutex>& lock) {
  StackOrders orders = key_orders_;
  streams_.at(session).held.append_orders(orders, kMostOrdersAtOnce);
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

// The order matters: it first asks the programs for a wake-up, and then looks at the rings once
// more. That look sees a record reserved before the request; one reserved after it causes the
// wake-up.
void EventReader::sleep_until_event() {
  rings_.set_reader_sleeps(true);
  if (!pass()) {
    {
      const std::lock_guard lock(mutex_);
      ++items_.stats.sleeps;
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
      if (!stream.sink_comes_by_ns) stream.rings.append_to(fds);
  }
  const int ready = ::poll(fds.data(), fds.size(), timeout_ms);
  uint64_t count = 0;
  if (fds[0].revents) (void)!::read(wake_.get(), &count, sizeof(count));
  return ready > 0;
}

}  // namespace tracectl
