// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/control/flight_recorders.h"

#include <algorithm>
#include <new>
#include <set>
#include <sstream>
#include <utility>

#include "daemon/base/clock.h"
#include "daemon/control/log.h"
#include "daemon/process/core_file.h"
#include "daemon/stream/block_file.h"

namespace tracectl {
namespace {

using namespace protocol;

constexpr uint64_t kLongestDumpEndNs = 5'000'000'000;  // for all dumps, when the daemon ends
constexpr size_t kMostDumpsKnown = 64;

const char* name_of(Dump::Phase phase) {
  switch (phase) {
    case Dump::Phase::writing: return "writing";
    case Dump::Phase::done: return "done";
    case Dump::Phase::failed: return "failed";
  }
  return "";
}

std::string number_text(double number) {
  std::ostringstream text;
  text << number;
  return text.str();
}

WatchedEnds ends_of(const DumpOnPart& on) {
  WatchedEnds ends;
  if (on.crash) ends.add_crashes();
  for (const int64_t signal : on.signals.value_or(std::vector<int64_t>{}))
    ends.add_signal(static_cast<int>(signal));
  for (const int64_t status : on.exit_statuses.value_or(std::vector<int64_t>{}))
    ends.add_status(static_cast<int>(status));
  return ends;
}

bool are_within(const std::optional<std::vector<int64_t>>& numbers, int64_t most) {
  return !numbers || (numbers->size() <= DumpOnPart::kMostEnds &&
                      std::all_of(numbers->begin(), numbers->end(),
                                  [&](int64_t one) { return one >= 1 && one <= most; }));
}

Status check_dump_on(const DumpOnPart& on) {
  if (on.failed_units.size() > DumpOnPart::kMostUnits)
    return Error{Code::exhausted,
                 "a recorder is dumped on failures of " + std::to_string(DumpOnPart::kMostUnits) +
                     " units at most, not " + std::to_string(on.failed_units.size()),
                 "dump_on.failed_units"};
  if (!are_within(on.signals, WatchedEnds::kMostSignal))
    return Error{Code::invalid, "signals are numbers from 1 to 64, 255 of them at most",
                 "dump_on.signals"};
  // So many processes end with 0 that their notices would crowd out others.
  if (!are_within(on.exit_statuses, WatchedEnds::kMostStatus))
    return Error{Code::invalid, "exit statuses are numbers from 1 to 255, 255 of them at most",
                 "dump_on.exit_statuses"};
  return ok();
}

FlightRecorder::Bound bound_of(const RecorderBoundPart& part) {
  FlightRecorder::Bound bound{.bytes = part.bytes.value_or(RecorderBoundPart::kBytesOfTime)};
  if (part.seconds) bound.ns = static_cast<uint64_t>(*part.seconds * 1e9);
  return bound;
}

}  // namespace

Status check_recorder(const SessionCreate& asked) {
  using Bound = RecorderBoundPart;
  const auto& bound = asked.recorder;
  if (!bound && asked.dump_on)
    return Error{
        Code::invalid,
        "only a session with a flight recorder has something to dump: say what the recorder "
        "holds, too",
        "dump_on"};
  if (asked.dump_on)
    if (auto checked = check_dump_on(*asked.dump_on); !checked) return checked;
  if (!bound) return ok();
  if (!bound->bytes && !bound->seconds)
    return Error{Code::invalid, "a recorder holds so many bytes or seconds: say how many",
                 "recorder"};
  if (bound->bytes && (*bound->bytes < Bound::kLeastBytes || *bound->bytes > Bound::kMostBytes))
    return Error{Code::invalid,
                 "a recorder holds " + std::to_string(Bound::kLeastBytes) + " to " +
                     std::to_string(Bound::kMostBytes) + " bytes, not " +
                     std::to_string(*bound->bytes),
                 "recorder.bytes"};
  if (bound->seconds &&
      !(*bound->seconds >= Bound::kLeastSeconds && *bound->seconds <= Bound::kMostSeconds))
    return Error{Code::invalid,
                 "a recorder holds " + number_text(Bound::kLeastSeconds) + " to " +
                     number_text(Bound::kMostSeconds) + " seconds, not " +
                     number_text(*bound->seconds),
                 "recorder.seconds"};
  return ok();
}

Status FlightRecorders::check_memory_of(uid_t user, const RecorderBoundPart& asked,
                                        const Quota& quota) const {
  MemoryWanted wanted{bound_of(asked).bytes, bound_of(asked).bytes};
  const auto add = [&](uid_t whose, uint64_t bytes) {
    wanted.of_all += bytes;
    if (whose == user) wanted.of_user += bytes;
  };
  for (const auto& [session, kept] : recorders_) add(kept.user, kept.quota_bytes);
  for (const auto& [number, dumping] : dumps_)
    if (is_kept_by_dump_alone(dumping)) add(dumping.user, dumping.quota_bytes);
  return quota.check_memory("flight recorders", wanted, quota.ring_bytes);
}

// Such recorders count too: otherwise a file that accepts no more data could hold one after another.
bool FlightRecorders::is_kept_by_dump_alone(const Dumping& dumping) const {
  return is_being_written(dumping) && !recorders_.contains(dumping.session);
}

Status FlightRecorders::keep(const std::string& session, const SessionCreate& asked, uid_t user) {
  if (asked.dump_on && !unasked_)
    return Error{Code::unsupported, "only the daemon dumps by itself: it has a directory of dumps",
                 "dump_on"};
  auto dump_on = watched(asked.dump_on.value_or(DumpOnPart{}));
  if (!dump_on) return dump_on.error();
  auto recorder = std::make_shared<FlightRecorder>(bound_of(*asked.recorder));
  if (auto subscribed = engine_.streams().subscribe(session, recorder); !subscribed) {
    watch_what_is_wanted();
    return subscribed;
  }
  const auto made = engine_.sessions().find(session);
  const bool has_quota = made && (*made)->access.owner;
  recorders_[session] = {*asked.recorder, std::move(*dump_on), user, std::move(recorder),
                         has_quota ? bound_of(*asked.recorder).bytes : 0};
  if (unasked_) engine_.notices().dump_at_triggers(session);
  watch_what_is_wanted();
  return ok();
}

// Begins to watch the units, and returns `asked` with their full names.
Result<DumpOnPart> FlightRecorders::watched(const DumpOnPart& asked) {
  DumpOnPart on = asked;
  if (on.failed_units.empty()) return on;
  auto names = unasked_->units.watch(on.failed_units);
  if (!names) {
    watch_what_is_wanted();
    Error error = names.error();
    error.field = "dump_on.failed_units";
    return error;
  }
  on.failed_units = std::move(*names);
  return on;
}

void FlightRecorders::forget(const std::string& session) {
  recorders_.erase(session);
  watch_what_is_wanted();
}

void FlightRecorders::watch_what_is_wanted() {
  WatchedEnds ends;
  std::set<std::string> units;
  for (const auto& [session, kept] : recorders_) {
    ends.add(ends_of(kept.dump_on));
    units.insert(kept.dump_on.failed_units.begin(), kept.dump_on.failed_units.end());
  }
  engine_.notices().watch_ends(ends);
  if (unasked_) unasked_->units.forget_all_but(units);
}

std::optional<uid_t> FlightRecorders::user_of(const std::string& session) const {
  const auto found = recorders_.find(session);
  return found == recorders_.end() ? std::nullopt : std::optional(found->second.user);
}

std::optional<RecorderPart> FlightRecorders::part_of(const std::string& session) const {
  const auto found = recorders_.find(session);
  if (found == recorders_.end()) return std::nullopt;
  const FlightRecorder::State state = found->second.recorder->state();
  RecorderPart part{.bound = found->second.bound,
                    .dump_on = found->second.dump_on,
                    .dumps_left_out = found->second.left_out,
                    .last_dump = found->second.last_dump,
                    .bytes = state.bytes,
                    .events = state.events,
                    .lost = state.lost,
                    .overwritten = state.overwritten,
                    .first_ts = {},
                    .last_ts = {}};
  if (state.first_ns) {
    part.first_ts = state.first_ns;
    part.last_ts = state.last_ns;
  }
  return part;
}

Result<const FlightRecorders::Kept*> FlightRecorders::kept(const std::string& session) const {
  if (auto known = engine_.sessions().find(session); !known) return known.error();
  const auto found = recorders_.find(session);
  if (found != recorders_.end()) return &found->second;
  return Error{Code::invalid,
               "the session \"" + session +
                   "\" has no flight recorder: make one with tracectl session new NAME --recorder "
                   "64M",
               "session"};
}

bool FlightRecorders::is_being_written(const Dumping& dumping) {
  return state_of(dumping).phase == Dump::Phase::writing;
}

bool FlightRecorders::is_being_written(const std::string& session) const {
  return std::any_of(dumps_.begin(), dumps_.end(), [&](const auto& one) {
    return one.second.session == session && is_being_written(one.second);
  });
}

// One dump at a time: while it is written, events that its recorder drops stay in memory.
Result<DumpPart> FlightRecorders::dump(const std::string& session, Fd file,
                                       recording::Compression compression,
                                       const std::string& reason) {
  auto recorder = kept(session);
  if (!recorder) return recorder.error();
  if (is_being_written(session))
    return Error{Code::busy,
                 "a dump of the session \"" + session + "\" is being written: wait for its end",
                 "session"};
  if (auto fit = check_writable(file.get()); !fit) return fit.error();
  const auto asked_ns = engine_.streams().ask_flush(session);
  if (!asked_ns) return asked_ns.error();
  Flushing flushing{(*recorder)->recorder, std::move(file), compression, *asked_ns};
  Dumping dumping{session, (*recorder)->user, reason, std::move(flushing)};
  dumping.quota_bytes = (*recorder)->quota_bytes;
  dumping.recorder = (*recorder)->recorder;
  forget_old_dumps();
  dumps_.insert_or_assign(++last_number_, std::move(dumping));
  return dumped(last_number_);
}

void FlightRecorders::take_flushed() {
  for (auto& [number, dumping] : dumps_) {
    const auto* flushing = std::get_if<Flushing>(&dumping.stage);
    if (!flushing) continue;
    const auto flushed = engine_.streams().is_flushed(dumping.session, flushing->asked_ns);
    if (flushed && !*flushed) continue;
    // The events that are there are dumped even so.
    if (!flushed) dumping.note = "the last events may be missing: " + flushed.error().message;
    begin(dumping);
  }
}

void FlightRecorders::begin_dumps_of(const std::string& session) {
  take_flushed();
  for (auto& [number, dumping] : dumps_) {
    if (dumping.session != session || !std::holds_alternative<Flushing>(dumping.stage)) continue;
    dumping.note = "the last events may be missing: the session was deleted before they came";
    begin(dumping);
  }
}

void FlightRecorders::begin(Dumping& dumping) try {
  auto& [recorder, file, compression, asked_ns] = std::get<Flushing>(dumping.stage);
  auto dump = Dump::start(std::move(file), recorder->snapshot(), compression, dumping.reason);
  if (dump)
    dumping.stage = std::move(*dump);
  else
    dumping.stage = dump.error();
} catch (const std::bad_alloc&) {
  dumping.stage = Error{Code::exhausted, "out of memory"};
}

Dump::State FlightRecorders::state_of(const Dumping& dumping) {
  if (const auto* dump = std::get_if<std::shared_ptr<Dump>>(&dumping.stage))
    return (*dump)->state();
  if (const auto* error = std::get_if<Error>(&dumping.stage))
    return {.phase = Dump::Phase::failed, .error = *error};
  return {.phase = Dump::Phase::writing};
}

Result<DumpPart> FlightRecorders::dumped(uint64_t number, std::optional<uid_t> by) {
  take_flushed();
  const auto found = dumps_.find(number);
  if (found == dumps_.end() || (by && found->second.user != *by))
    return Error{Code::not_found, "no dump with the number " + std::to_string(number) + " is known",
                 "dump"};
  const Dump::State state = state_of(found->second);
  DumpPart part{.session = found->second.session,
                .dump = number,
                .state = name_of(state.phase),
                .events = state.events,
                .lost = state.lost,
                .bytes = state.bytes,
                .reason = found->second.reason,
                .error = {},
                .note = found->second.note};
  if (state.error) part.error = state.error->message;
  return part;
}

void FlightRecorders::forget_old_dumps() {
  const auto is_needed = [](const Dumping& one) { return one.place || is_being_written(one); };
  for (auto at = dumps_.begin(); at != dumps_.end() && dumps_.size() >= kMostDumpsKnown;)
    at = is_needed(at->second) ? std::next(at) : dumps_.erase(at);
}

// ---- to the folder ----

void FlightRecorders::dump_all(const std::string& reason) {
  for (auto& [session, kept] : recorders_) dump_for(session, kept, reason);
}

void FlightRecorders::dump_triggered(const DumpAsked& asked) {
  const auto found = recorders_.find(asked.session);
  if (found == recorders_.end()) return;
  found->second.listen_at_ns = boot_ns() + kLeastBetweenNs;
  dump_for(asked.session, found->second,
           "a hit of session " + asked.by_session + " in process " + std::to_string(asked.pid) +
               " (" + asked.process + ") has triggered it");
}

void FlightRecorders::dump_ended(const SeenEnd& seen) {
  for (const std::string& session : seen.sessions) {
    const auto found = recorders_.find(session);
    if (found != recorders_.end() && ends_of(found->second.dump_on).has(seen.end))
      dump_after_failure(session, text(CoreNaming::of_machine(), seen.end));
  }
}

void FlightRecorders::dump_failed(const UnitFailure& failure) {
  for (const auto& [session, kept] : recorders_) {
    const auto& units = kept.dump_on.failed_units;
    if (std::find(units.begin(), units.end(), failure.unit) != units.end())
      dump_after_failure(session, text(failure));
  }
}

void FlightRecorders::dump_after_failure(const std::string& session, const std::string& reason) {
  Kept& kept = recorders_.at(session);
  const uint64_t now_ns = boot_ns();
  if (now_ns < kept.quiet_until_ns) {
    ++kept.left_out;
    return log_info("dump session={} skipped, because one was made just before: {}", session,
                    reason);
  }
  kept.quiet_until_ns = now_ns + kLeastBetweenNs;
  dump_for(session, kept, reason);
}

// A dump waits while another one of the session is being written, because that holds in memory the events that
// the recorder drops. Only one waits: it will have the events that an earlier one would have had.
void FlightRecorders::dump_for(const std::string& session, Kept& kept, const std::string& reason) {
  if (is_being_written(session)) {
    if (kept.waiting) ++kept.left_out;
    kept.waiting = reason;
    return;
  }
  const auto begun = dump_to_folder(session, kept.user, reason);
  if (begun) return;
  ++counts_.failed;
  log_warning("dump session={} failed: {}; it was wanted as {}", session, begun.error().message,
              reason);
}

Status FlightRecorders::dump_to_folder(const std::string& session, uid_t user,
                                       const std::string& reason) {
  auto made = unasked_->folder.make(session, user);
  if (!made) return made.error();
  auto begun = dump(session, std::move(made->file), recording::Compression::none, reason);
  if (!begun) {
    made->place.remove();
    return begun.error();
  }
  dumps_.at(begun->dump).place = std::move(made->place);
  return ok();
}

bool FlightRecorders::look_after() {
  take_flushed();
  bool is_any_left = report_ended();
  for (auto& [session, kept] : recorders_) is_any_left |= look_after(session, kept);
  return is_any_left;
}

bool FlightRecorders::look_after(const std::string& session, Kept& kept) {
  if (kept.listen_at_ns && kept.listen_at_ns <= boot_ns()) {
    kept.listen_at_ns = 0;
    engine_.notices().listen_for_dumps(session);
  }
  if (kept.waiting && !is_being_written(session))
    dump_for(session, kept, *std::exchange(kept.waiting, std::nullopt));
  return kept.listen_at_ns || kept.waiting || is_being_written(session);
}

bool FlightRecorders::report_ended() {
  bool is_any_left = false;
  for (auto& [number, dumping] : dumps_) {
    if (!dumping.place) continue;
    const Dump::State state = state_of(dumping);
    if (state.phase == Dump::Phase::writing) {
      is_any_left = true;
      continue;
    }
    report_end(dumping, state);
    dumping.place.reset();
  }
  return is_any_left;
}

void FlightRecorders::report_end(const Dumping& dumping, const Dump::State& state) {
  if (state.phase == Dump::Phase::failed) {
    ++counts_.failed;
    if (state.events == 0) dumping.place->remove();
    return log_warning("dump session={} failed: {}; events={} file={}", dumping.session,
                       state.error->message, state.events,
                       state.events == 0 ? "none" : dumping.place->path());
  }
  ++counts_.written;
  dumping.place->remove_older();
  const auto found = recorders_.find(dumping.session);
  // It may be another session of that name.
  if (found != recorders_.end() && dumping.recorder.lock() == found->second.recorder)
    found->second.last_dump = dumping.place->path();
  log_info("dump session={} events={} lost={} bytes={} file={} reason: {}{}", dumping.session,
           state.events, state.lost, state.bytes, dumping.place->path(), dumping.reason,
           dumping.note ? "; " + *dumping.note : "");
}

FlightRecorders::~FlightRecorders() {
  const uint64_t end_ns = boot_ns() + kLongestDumpEndNs;
  for (auto& [number, dumping] : dumps_)
    if (std::holds_alternative<Flushing>(dumping.stage)) begin(dumping);
  for (const auto& [number, dumping] : dumps_) {
    const auto* dump = std::get_if<std::shared_ptr<Dump>>(&dumping.stage);
    const uint64_t now_ns = boot_ns();
    const uint64_t left_ns = end_ns > now_ns ? end_ns - now_ns : 0;
    if (dump && !(*dump)->wait_ms(static_cast<unsigned>(left_ns / 1'000'000)))
      log_warning("a dump of session {} was not written to its end", dumping.session);
  }
  (void)report_ended();
}

}  // namespace tracectl
