// SPDX-License-Identifier: BSD-2-Clause
#include "client/recording/recorded_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "client/connection/wait.h"
#include "client/output/output_place.h"

namespace tracectl {

using namespace protocol;

namespace {

// out.tct: out.0.tct, out.1.tct...
std::string numbered(const std::string& file, uint64_t number) {
  std::filesystem::path path{file};
  const std::string extension = path.extension();
  path.replace_extension("." + std::to_string(number) + extension);
  return path;
}

std::vector<std::string> names_of(const RecordTo& to) {
  if (!to.rotate_bytes) return {to.file};
  std::vector<std::string> names;
  for (uint64_t i = 0; i < to.keep; ++i) names.push_back(numbered(to.file, i));
  return names;
}

// The files that have events, the oldest first.
std::string written_names(const RecordTo& to, const RecordingPart& part) {
  if (!part.files_begun) return to.file;
  std::string names;
  const uint64_t count = std::min(*part.files_begun, to.keep);
  for (uint64_t i = *part.files_begun - count; i < *part.files_begun; ++i)
    names += (names.empty() ? "" : ", ") + numbered(to.file, i % to.keep);
  return names;
}

Result<Fd> open_or_make(const std::string& name) {
  constexpr int kMostTries = 10;  // if the file repeatedly appears and disappears
  for (int tries = 1;; ++tries) {
    const auto place = OutputPlace::find(name);
    if (!place) return place.error();
    Fd file = place->open(O_RDWR);
    if (file) return file;
    if (errno != EEXIST || tries == kMostTries) return Error::from_errno("open " + name);
  }
}

}  // namespace

Result<Fd> open_to_write(const std::string& name) {
  auto file = open_or_make(name);
  if (!file) return file.error();
  if (::flock(file->get(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
    return Error{Code::busy, name +
                                 " is being written by another recording or dump: wait for its "
                                 "end, or choose another file"};
  return file;
}

Result<RecordedFile> RecordedFile::open(const RecordTo& to) {
  RecordedFile opened{to};
  for (const std::string& name : names_of(to)) {
    auto file = open_to_write(name);
    if (!file) return file.error();
    opened.files_.push_back(*std::move(file));
  }
  return opened;
}

Status RecordedFile::start(Backend& backend, const std::string& session) {
  RecordStart request{.session = session, .compress = to_.compress};
  if (to_.rotate_bytes) request.rotate = RotatePart{*to_.rotate_bytes, to_.keep};
  std::vector<int> descriptors;
  for (const Fd& file : files_) descriptors.push_back(file.get());
  auto started = backend.call_with(request, descriptors);
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
  report(*part);
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
        report(*part);
        return part->state != "done";
      },
      kSoonMs);
  clear();
  if (!ended) return ended.error();
  if (*ended == Ended::interrupted)
    return Error{Code::busy, "interrupted: " + in_file_text(*part) + " so far are in the file"};
  return part;
}

void RecordingProgress::report(const RecordingPart& part) {
  if (!is_seen_) return;
  print_error("\r\x1b[K" + in_file_text(part));
  has_line_ = true;
}

void RecordingProgress::clear() {
  if (std::exchange(has_line_, false)) print_error("\r\x1b[K");
}

std::string recording_text(const RecordTo& to, const RecordingPart& part) {
  std::string text = written_names(to, part) + ": " + in_file_text(part);
  if (part.overwritten.value_or(0) > 0)
    text += "; " + plural(*part.overwritten, "older event") + " overwritten";
  return text + "\n";
}

}  // namespace tracectl
