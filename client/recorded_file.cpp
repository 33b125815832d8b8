// SPDX-License-Identifier: BSD-2-Clause
#include "client/recorded_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "client/output.h"
#include "client/wait.h"

namespace tracectl {

using namespace protocol;

namespace {

std::string bytes_text(uint64_t bytes) {
  if (bytes < 1 << 10) return fmt::format("{} B", bytes);
  if (bytes < 1 << 20) return fmt::format("{:.1f} KiB", static_cast<double>(bytes) / (1 << 10));
  if (bytes < 1 << 30) return fmt::format("{:.1f} MiB", static_cast<double>(bytes) / (1 << 20));
  return fmt::format("{:.2f} GiB", static_cast<double>(bytes) / (1 << 30));
}

std::string sums_text(const RecordingPart& part) {
  return plural(part.events, "event") + ", " + std::to_string(part.lost) + " lost, " +
         bytes_text(part.bytes);
}

}  // namespace

Result<RecordedFile> RecordedFile::open(const RecordTo& to) {
  Fd file{::open(to.file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOCTTY, 0666)};
  if (!file) return Error::from_errno("open " + to.file);
  return RecordedFile{to, std::move(file)};
}

Status RecordedFile::start(Backend& backend, const std::string& session) {
  if (::ftruncate(file_.get(), 0) != 0 && errno != EINVAL)
    return Error::from_errno("empty " + to_.file);
  auto started = backend.call_with(RecordStart{session, to_.compress}, file_.get());
  if (!started) return started.error().in(to_.file);
  return ok();
}

RecordingProgress::RecordingProgress(const CommonOptions& common, Backend& backend,
                                     std::string session)
    : backend_(backend),
      session_(std::move(session)),
      is_seen_(!common.quiet && !common.json && ::isatty(STDERR_FILENO)) {}

Result<RecordingPart> RecordingProgress::ask() {
  auto part = backend_.call(RecordShow{session_});
  if (part && part->state == "failed")
    return Error{Code::kernel, "the recording has failed: " + part->error.value_or("") + "; " +
                                   plural(part->events, "event") + " are in the file, " +
                                   plural(part->lost, "event") + " were lost"};
  return part;
}

Result<bool> RecordingProgress::look() {
  auto part = ask();
  if (!part) return part.error();
  tell(*part);
  return true;
}

Result<RecordingPart> RecordingProgress::end() {
  auto waiter = Waiter::open();
  if (!waiter) return waiter.error();
  if (auto stopped = backend_.call(RecordStop{session_}); !stopped) return stopped.error();
  Result<RecordingPart> part = ask();
  constexpr int kSoonMs = 10;
  const auto ended = waiter->run(
      -1,
      [&]() -> Result<bool> {
        part = ask();
        if (!part) return part.error();
        tell(*part);
        return part->state != "done";
      },
      kSoonMs);
  clear();
  if (!ended) return ended.error();
  if (*ended == Ended::interrupted)
    return Error{Code::busy, "interrupted: " + sums_text(*part) + " so far are in the file"};
  return part;
}

void RecordingProgress::tell(const RecordingPart& part) {
  if (!is_seen_) return;
  print_error("\r\x1b[K" + sums_text(part));
  has_line_ = true;
}

void RecordingProgress::clear() {
  if (std::exchange(has_line_, false)) print_error("\r\x1b[K");
}

std::string recording_text(const std::string& file, const RecordingPart& part) {
  return file + ": " + sums_text(part) + "\n";
}

}  // namespace tracectl
