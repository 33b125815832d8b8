// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/control/recordings.h"

#include <linux/magic.h>
#include <sys/vfs.h>

#include "daemon/base/clock.h"
#include "daemon/control/log.h"

namespace tracectl {
namespace {

using namespace protocol;

constexpr uint64_t kLongestEndNs = 5'000'000'000;  // of all recordings, when the daemon ends

const char* name_of(Recorder::Phase phase) {
  switch (phase) {
    case Recorder::Phase::recording: return "recording";
    case Recorder::Phase::ending: return "ending";
    case Recorder::Phase::done: return "done";
    case Recorder::Phase::failed: return "failed";
  }
  return "";
}

RecordingPart recording_part(const std::string& session, const Recorder& recorder) {
  const Recorder::State state = recorder.state();
  RecordingPart part{.session = session,
                     .state = name_of(state.phase),
                     .events = state.events,
                     .lost = state.lost,
                     .bytes = state.bytes,
                     .error = {}};
  if (state.error) part.error = state.error->message;
  if (state.turns) {
    part.files_begun = state.turns->files_begun;
    part.overwritten = state.turns->overwritten;
  }
  return part;
}

bool is_over(const Recorder& recorder) {
  const Recorder::Phase phase = recorder.state().phase;
  return phase == Recorder::Phase::done || phase == Recorder::Phase::failed;
}

template <class Request> recording::Compression compression_of(const Request& request) {
  return request.compress ? recording::Compression::zstd : recording::Compression::none;
}

Status check_rotation(const RotatePart& rotate) {
  if (rotate.files < RotatePart::kLeastFiles || rotate.files > RotatePart::kMostFiles)
    return Error{Code::invalid,
                 "a recording is kept in " + std::to_string(RotatePart::kLeastFiles) + " to " +
                     std::to_string(RotatePart::kMostFiles) + " files, not in " +
                     std::to_string(rotate.files),
                 "rotate.files"};
  if (rotate.bytes < RotatePart::kLeastBytes)
    return Error{
        Code::invalid,
        "a file of " + std::to_string(rotate.bytes) +
            " bytes is too small, because each file repeats the definitions of the probes: take " +
            std::to_string(RotatePart::kLeastBytes) + " at least",
        "rotate.bytes"};
  return ok();
}

// Memory that the daemon fills is charged to the daemon as long as the user keeps the file.
Status check_no_memory(const Fd& file) {
  struct statfs system {};
  if (::fstatfs(file.get(), &system) != 0)
    return Error::from_errno("look at the file to record to");
  if (system.f_type != TMPFS_MAGIC && system.f_type != RAMFS_MAGIC &&
      system.f_type != HUGETLBFS_MAGIC)
    return ok();
  return Error{
      Code::denied,
      "the file to record to is in memory (tmpfs, or made by memfd_create), which would be the "
      "daemon's: users who may not trace every process record to a file on a disk, as in "
      "/var/tmp"};
}

Result<std::vector<Fd>> take_files(Peer& peer, size_t count) {
  auto files = take_descriptors(peer, count, "to record to");
  if (!files || !peer.owner) return files;
  for (const Fd& file : *files)
    if (auto good = check_no_memory(file); !good) return good.error();
  return files;
}

// Rotated files do not grow beyond their size, so their sum is known before the recording begins.
Status check_length(const RotatePart& rotate, uint64_t most_bytes) {
  uint64_t bytes = 0;
  if (!__builtin_mul_overflow(rotate.bytes, rotate.files, &bytes) && bytes <= most_bytes)
    return ok();
  return Error{Code::exhausted,
               "a recording of a user may have " + std::to_string(most_bytes) +
                   " bytes (quota.recording-bytes in tracectld.json): take fewer or smaller files",
               "rotate"};
}

// `most_bytes`: the limit for a user who may not trace every process.
Result<std::shared_ptr<Recorder>> start_recorder(const RecordStart& request, Peer& peer,
                                                 std::optional<uint64_t> most_bytes) {
  if (request.rotate)
    if (auto good = check_rotation(*request.rotate); !good) return good.error();
  if (request.rotate && most_bytes)
    if (auto within = check_length(*request.rotate, *most_bytes); !within) return within.error();
  auto files = take_files(peer, request.rotate ? request.rotate->files : 1);
  if (!files) return files.error();
  const auto compression = compression_of(request);
  if (!request.rotate)
    return Recorder::start(std::move(files->front()), compression, Recorder::kMostWaitingBytes,
                           most_bytes);
  return Recorder::start_rotating(std::move(*files), request.rotate->bytes, compression);
}

}  // namespace

Result<std::shared_ptr<Recorder>> Recordings::recording(const std::string& session) const {
  if (auto known = engine_.sessions().find(session); !known) return known.error();
  const auto found = recordings_.find(session);
  if (found != recordings_.end()) return found->second.recorder;
  return Error{Code::not_found, "nothing records the session \"" + session + "\"", "session"};
}

Result<RecordingPart> Recordings::handle(const RecordStart& request, Peer& peer) {
  const auto found = recordings_.find(request.session);
  if (found != recordings_.end() && !is_over(*found->second.recorder))
    return Error{Code::busy, "the session \"" + request.session + "\" is being recorded already",
                 "session"};
  if (auto within = check_memory(peer); !within) return within.error();
  const uint64_t most_bytes = engine_.options().quota.recording_bytes;
  auto recorder =
      start_recorder(request, peer, peer.owner ? std::optional(most_bytes) : std::nullopt);
  if (!recorder) return recorder.error();
  if (auto subscribed = engine_.streams().subscribe(request.session, *recorder); !subscribed)
    return subscribed.error();
  end(request.session);  // the previous one, which is over
  log_info("record session={} uid={} pid={}", request.session, peer.uid, peer.pid);
  recordings_[request.session] = {*recorder, peer.owner ? std::optional(peer.uid) : std::nullopt};
  return recording_part(request.session, **recorder);
}

// Checks the buffers of data that the disk has not taken yet.
Status Recordings::check_memory(const Peer& peer) const {
  if (!peer.owner) return ok();
  constexpr size_t kEach = Recorder::kMostWaitingBytes;
  MemoryWanted wanted{kEach, kEach};
  const auto add = [&](const Recording& other) {
    if (!other.user || is_over(*other.recorder)) return;
    wanted.of_all += kEach;
    if (*other.user == peer.uid) wanted.of_user += kEach;
  };
  for (const auto& [session, other] : recordings_) add(other);
  for (const Recording& other : ending_) add(other);
  const Quota& quota = engine_.options().quota;
  return quota.check_memory("buffers of recordings", wanted, quota.stream_bytes);
}

Result<RecordingPart> Recordings::handle(const RecordShow& request, Peer&) {
  auto recorder = recording(request.session);
  if (!recorder) return recorder.error();
  return recording_part(request.session, **recorder);
}

Result<RecordingPart> Recordings::handle(const RecordStop& request, Peer&) {
  auto recorder = recording(request.session);
  if (!recorder) return recorder.error();
  engine_.streams().unsubscribe(request.session, recorder->get());
  (*recorder)->end();
  return recording_part(request.session, **recorder);
}

Result<DumpPart> Recordings::handle(const RecordDump& request, Peer& peer) {
  auto files = take_files(peer, 1);
  if (!files) return files.error();
  auto dump =
      flight_recorders_.dump(request.session, std::move(files->front()), compression_of(request),
                             "user " + std::to_string(peer.uid) + " has asked for it");
  if (dump) log_info("dump session={} uid={} pid={}", request.session, peer.uid, peer.pid);
  return dump;
}

Result<DumpPart> Recordings::handle(const RecordDumped& request, Peer& peer) {
  return flight_recorders_.dumped(request.dump,
                                  peer.owner ? std::optional(peer.uid) : std::nullopt);
}

void Recordings::end(const std::string& session) {
  std::erase_if(ending_, [](const Recording& one) { return is_over(*one.recorder); });
  const auto found = recordings_.find(session);
  if (found == recordings_.end()) return;
  engine_.streams().unsubscribe(session, found->second.recorder.get());
  found->second.recorder->end();
  ending_.push_back(std::move(found->second));
  recordings_.erase(found);
}

Recordings::~Recordings() {
  while (!recordings_.empty()) end(std::string(recordings_.begin()->first));
  const uint64_t end_ns = boot_ns() + kLongestEndNs;
  for (const auto& [recorder, user] : ending_) {
    const uint64_t now_ns = boot_ns();
    const uint64_t left_ns = end_ns > now_ns ? end_ns - now_ns : 0;
    if (!recorder->wait_ms(static_cast<unsigned>(left_ns / 1'000'000)))
      log_warning("a recording was not written to its end");
  }
}

}  // namespace tracectl
