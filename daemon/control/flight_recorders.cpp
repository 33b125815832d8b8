// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/control/flight_recorders.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <sstream>
#include <utility>

#include "daemon/base/clock.h"

namespace tracectl {
namespace {

using namespace protocol;

constexpr uint64_t kLongestDumpEndNs = 5'000'000'000;  // of all dumps, when the daemon ends
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

FlightRecorder::Bound bound_of(const RecorderBoundPart& part) {
  FlightRecorder::Bound bound{.bytes = part.bytes.value_or(RecorderBoundPart::kBytesOfTime)};
  if (part.seconds) bound.ns = static_cast<uint64_t>(*part.seconds * 1e9);
  return bound;
}

}  // namespace

Status check_bound(const std::optional<RecorderBoundPart>& bound) {
  using Bound = RecorderBoundPart;
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

Status FlightRecorders::keep(const std::string& session, const RecorderBoundPart& bound,
                             uid_t user) {
  auto recorder = std::make_shared<FlightRecorder>(bound_of(bound));
  if (auto subscribed = engine_.subscribe(session, recorder); !subscribed) return subscribed;
  recorders_[session] = {bound, user, std::move(recorder)};
  return ok();
}

std::optional<RecorderPart> FlightRecorders::part_of(const std::string& session) const {
  const auto found = recorders_.find(session);
  if (found == recorders_.end()) return std::nullopt;
  const FlightRecorder::State state = found->second.recorder->state();
  RecorderPart part{.bound = found->second.bound,
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
  if (auto known = engine_.session(session); !known) return known.error();
  const auto found = recorders_.find(session);
  if (found != recorders_.end()) return &found->second;
  return Error{Code::invalid,
               "the session \"" + session +
                   "\" has no flight recorder: make one with tracectl session new NAME --recorder "
                   "64M",
               "session"};
}

bool FlightRecorders::is_being_written(const std::string& session) const {
  return std::any_of(dumps_.begin(), dumps_.end(), [&](const auto& one) {
    return one.second.session == session && one.second.dump->state().phase == Dump::Phase::writing;
  });
}

// What is being written keeps in memory what its recorder forgets meanwhile: so one at a time.
Result<DumpPart> FlightRecorders::dump(const std::string& session, Fd file,
                                       recording::Compression compression) {
  auto recorder = kept(session);
  if (!recorder) return recorder.error();
  if (is_being_written(session))
    return Error{Code::busy,
                 "a dump of the session \"" + session + "\" is being written: wait for its end",
                 "session"};
  Dumping dumping{session, nullptr, std::nullopt};
  // What is there is worth having all the same.
  if (auto flushed = engine_.flush(session); !flushed)
    dumping.note = "the last events may be missing: " + flushed.error().message;
  auto dump = Dump::start(std::move(file), (*recorder)->recorder->snapshot(), compression);
  if (!dump) return dump.error();
  dumping.dump = std::move(*dump);
  forget_old_dumps();
  dumps_[++last_number_] = std::move(dumping);
  return dumped(last_number_);
}

Result<DumpPart> FlightRecorders::dumped(uint64_t number) const {
  const auto found = dumps_.find(number);
  if (found == dumps_.end())
    return Error{Code::not_found, "no dump with the number " + std::to_string(number) + " is known",
                 "dump"};
  const Dump::State state = found->second.dump->state();
  DumpPart part{.session = found->second.session,
                .dump = number,
                .state = name_of(state.phase),
                .events = state.events,
                .lost = state.lost,
                .bytes = state.bytes,
                .error = {},
                .note = found->second.note};
  if (state.error) part.error = state.error->message;
  return part;
}

void FlightRecorders::forget_old_dumps() {
  const auto is_needed = [](const Dumping& one) {
    return !one.path.empty() || one.dump->state().phase == Dump::Phase::writing;
  };
  for (auto at = dumps_.begin(); at != dumps_.end() && dumps_.size() >= kMostDumpsKnown;)
    at = is_needed(at->second) ? std::next(at) : dumps_.erase(at);
}

// ---- to the folder ----

void FlightRecorders::dump_all(const DumpFolder& folder) {
  for (const auto& [session, kept] : recorders_) {
    const auto begun = dump_to(folder, session, kept.user);
    if (begun) continue;
    ++counts_.failed;
    spdlog::warn("dump session={} failed: {}", session, begun.error().message);
  }
}

Status FlightRecorders::dump_to(const DumpFolder& folder, const std::string& session, uid_t user) {
  // Before a file is made, and an older one removed for it.
  if (is_being_written(session)) return Error{Code::busy, "another dump of it is being written"};
  auto made = folder.make(session, user);
  if (!made) return made.error();
  auto begun = dump(session, std::move(made->file), recording::Compression::none);
  if (!begun) return begun.error();
  dumps_[begun->dump].path = std::move(made->path);
  return ok();
}

bool FlightRecorders::tell_ended() {
  bool is_any_left = false;
  for (auto& [number, dumping] : dumps_) {
    if (dumping.path.empty()) continue;
    const Dump::State state = dumping.dump->state();
    if (state.phase == Dump::Phase::writing) {
      is_any_left = true;
      continue;
    }
    tell_end(dumping, state);
    dumping.path.clear();
  }
  return is_any_left;
}

void FlightRecorders::tell_end(const Dumping& dumping, const Dump::State& state) {
  if (state.phase == Dump::Phase::failed) {
    ++counts_.failed;
    return spdlog::warn("dump session={} failed: {}; {} events are in {}", dumping.session,
                        state.error->message, state.events, dumping.path);
  }
  ++counts_.written;
  spdlog::info("dump session={} events={} lost={} bytes={} file={}{}", dumping.session,
               state.events, state.lost, state.bytes, dumping.path,
               dumping.note ? " note: " + *dumping.note : "");
}

FlightRecorders::~FlightRecorders() {
  const uint64_t end_ns = boot_ns() + kLongestDumpEndNs;
  for (const auto& [number, dumping] : dumps_) {
    const uint64_t now_ns = boot_ns();
    const uint64_t left_ns = end_ns > now_ns ? end_ns - now_ns : 0;
    if (!dumping.dump->wait_ms(static_cast<unsigned>(left_ns / 1'000'000)))
      spdlog::warn("a dump of session {} was not written to its end", dumping.session);
  }
  (void)tell_ended();
}

}  // namespace tracectl
