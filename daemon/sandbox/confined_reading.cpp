// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/sandbox/confined_reading.h"

#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <map>

#include "daemon/base/bytes.h"
#include "daemon/base/clock.h"
#include "daemon/sandbox/debug_file_door.h"
#include "daemon/sandbox/wire.h"

namespace tracectl {
namespace {

constexpr uint64_t kSecondNs = 1'000'000'000, kMillisecondNs = 1'000'000;
// The time that a request waits for its answers: most files are read sooner than a request can be
// deferred and repeated. The second limits the waiting of all requests together in each second,
// because it holds up others.
constexpr uint64_t kPatienceNs = 10 * kMillisecondNs, kPatienceOfSecondNs = 100 * kMillisecondNs;
constexpr size_t kMostReaders = 16;
constexpr size_t kMostOfStrangers = 12;  // for files that are not root's; the rest is for root's
constexpr size_t kMostOfOwner = 3;       // for files of one of these owners
constexpr size_t kMostPending = 1024;
constexpr size_t kMostRecent = 64;
constexpr size_t kMostAnswersKept = 16;  // of a file, while nobody fetches them
constexpr size_t kMostFailures = 64;
constexpr uint64_t kFailureNs = 60 * kSecondNs;

// Whether an eventfd or timerfd was readable. Resets it.
bool drained(const Fd& fd) {
  uint64_t count = 0;
  return ::read(fd.get(), &count, sizeof(count)) == sizeof(count);
}

}  // namespace

// ---- files ----

class ConfinedReading::File : public FileReader, public std::enable_shared_from_this<File> {
 public:
  // A process that reads a stranger's debug file is a process for that stranger's files.
  File(ConfinedReading& reading, uint64_t number, Fd fd, const std::string& path,
       const struct stat& status, std::optional<NamedDebugFile> named,
       const struct stat& status_of_named)
      : reading_(reading),
        number_(number),
        fd_(std::move(fd)),
        path_(path),
        named_(std::move(named)),
        contents_(contents_of(status, named_, status_of_named)),
        owner_(status.st_uid),
        is_of_root_(tracectl::is_of_root(status)) {
    if (!named_) return;
    if (is_of_root_) owner_ = status_of_named.st_uid;
    is_of_root_ &= tracectl::is_of_root(status_of_named);
  }

  static Contents contents_of(const struct stat& file, const std::optional<NamedDebugFile>& named,
                              const struct stat& status_of_named) {
    Contents contents{FileIdentity::of(file), std::nullopt};
    if (named) contents.named = FileIdentity::of(status_of_named);
    return contents;
  }

  uint64_t number() const { return number_; }
  int fd() const { return fd_.get(); }
  const std::string& path() const { return path_; }
  const NamedDebugFile* named() const { return named_ ? &*named_ : nullptr; }
  const Contents& contents() const { return contents_; }
  uid_t owner() const { return owner_; }
  bool is_of_root() const { return is_of_root_; }

  Result<FileFacts> facts() override {
    auto answer = ask(wire::Kind::facts, {});
    if (!answer) return answer.error();
    return named(wire::decode_facts(*answer));
  }

  Result<ProbeMatch> find(const Question& question) override {
    auto answer = ask(wire::Kind::find, wire::encode(question));
    if (!answer) return answer.error();
    return named(
        wire::decode_match(*answer, {path_, static_cast<uint64_t>(contents_.file.size),
                                     question.pattern.kind, question.most, &question.symbols}));
  }

  Result<std::optional<std::string>> function_at(uint64_t offset) override {
    std::string question;
    ByteWriter(question).varint(offset);
    auto answer = ask(wire::Kind::function_at, std::move(question));
    if (!answer) return answer.error();
    return named(wire::decode_function(*answer));
  }

  // Keeps an answer until it is fetched.
  void keep(const std::string& question, std::string answer) {
    if (answers_.size() == kMostAnswersKept) answers_.erase(answers_.begin());
    answers_.insert_or_assign(question, std::move(answer));
  }

  std::optional<std::string> take(const std::string& question) {
    const auto at = answers_.find(question);
    if (at == answers_.end()) return std::nullopt;
    return std::move(answers_.extract(at).mapped());
  }

 private:
  Result<std::string> ask(wire::Kind kind, std::string question) {
    auto answer = reading_.ask(shared_from_this(), kind, std::move(question));
    if (answer) return std::move(*answer);
    return Error{Code::busy, path_ + " is still being read"};
  }

  // The process that reads the file names it in its errors. Answers that cannot be true are refused
  // here, without the name.
  template <class T> Result<T> named(Result<T> answer) const {
    if (answer || answer.error().message.find(path_) != std::string::npos) return answer;
    return answer.error().in(path_);
  }

  ConfinedReading& reading_;
  uint64_t number_;
  Fd fd_;
  std::string path_;
  std::optional<NamedDebugFile> named_;
  Contents contents_;
  uid_t owner_;
  bool is_of_root_;
  std::map<std::string, std::string> answers_;  // by question
};

namespace {

// The key by which a file keeps the answer to a question.
std::string key_of(wire::Kind kind, const std::string& question) {
  return static_cast<char>(kind) + question;
}

}  // namespace

// ---- opening ----

Result<std::unique_ptr<ConfinedReading>> ConfinedReading::start(
    const ReadingLimits& limits, ConfinedStacks::OnFailure on_failure) {
  auto ready = ReadableSet::open();
  if (!ready) return ready.error();
  Fd timer{::timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC | TFD_NONBLOCK)};
  if (!timer) return Error::from_errno("timerfd_create");
  if (auto added = ready->add(timer.get()); !added) return added.error();
  Fd unreported{::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
  if (!unreported) return Error::from_errno("eventfd");
  if (auto added = ready->add(unreported.get()); !added) return added.error();
  return std::unique_ptr<ConfinedReading>{new ConfinedReading(
      limits, std::move(on_failure), std::move(*ready), std::move(timer), std::move(unreported))};
}

ConfinedReading::ConfinedReading(const ReadingLimits& limits, ConfinedStacks::OnFailure on_failure,
                                 ReadableSet ready, Fd timer, Fd unreported)
    : limits_(limits),
      on_failure_(std::move(on_failure)),
      ready_(std::move(ready)),
      timer_(std::move(timer)),
      unreported_(std::move(unreported)) {}

ConfinedReading::~ConfinedReading() = default;

Result<std::shared_ptr<FileReader>> ConfinedReading::open(Fd fd, const std::string& path,
                                                          std::optional<NamedDebugFile> named) {
  struct stat status {
  }, status_of_named{};
  if (::fstat(fd.get(), &status) != 0) return Error::from_errno("fstat " + path);
  if (named && ::fstat(named->fd.get(), &status_of_named) != 0)
    return Error::from_errno("fstat " + named->path);
  const Contents contents = File::contents_of(status, named, status_of_named);
  const auto known = std::find_if(recent_.begin(), recent_.end(), [&](const FilePtr& file) {
    return file->contents() == contents && file->path() == path;
  });
  if (known != recent_.end()) {
    recent_.splice(recent_.begin(), recent_, known);
  } else {
    recent_.push_front(std::make_shared<File>(*this, ++last_file_, std::move(fd), path, status,
                                              std::move(named), status_of_named));
    if (recent_.size() > kMostRecent) recent_.pop_back();
  }
  return std::shared_ptr<FileReader>{recent_.front()};
}

Result<std::unique_ptr<StackReading>> ConfinedReading::for_stacks() const {
  auto stacks = ConfinedStacks::start(limits_, on_failure_);
  if (!stacks) return stacks.error();
  return std::unique_ptr<StackReading>{std::move(*stacks)};
}

// One process is kept, because starting one takes longer than reading most files.
void ConfinedReading::forget_files() {
  recent_.clear();
  bool is_one_left = false;
  for (Reader& reader : readers_) {
    if (reader.process->is_busy()) continue;
    if (reader.is_shared && !is_one_left && reader.process->close_all())
      is_one_left = true;
    else
      reader.process.reset();
  }
  remove_ended();
}

void ConfinedReading::remove_ended() {
  readers_.remove_if([](const Reader& reader) { return !reader.process; });
}

// ---- asking ----

void ConfinedReading::begin() {
  awaited_.reset();
  const uint64_t now = boot_ns();
  if (now - second_ns_ >= kSecondNs) {
    second_ns_ = now;
    waited_ns_ = 0;
  }
  patience_ns_ =
      std::min(kPatienceNs, kPatienceOfSecondNs - std::min(kPatienceOfSecondNs, waited_ns_));
}

std::optional<Result<std::string>> ConfinedReading::ask(const FilePtr& file, wire::Kind kind,
                                                        std::string question) {
  const std::string key = key_of(kind, question);
  if (auto answer = file->take(key)) return Result<std::string>{std::move(*answer)};
  if (const Failure* failure = failure_of(*file)) return Result<std::string>{failure->error};
  const Ticket last_of_others = last_ticket_;
  const size_t of_others = pending_until(last_of_others);
  const auto ticket = line_up(file, kind, std::move(question));
  if (!ticket) return Result<std::string>{ticket.error()};
  start_what_waits();
  wait_for(*ticket);
  if (pending_until(last_of_others) < of_others) report();
  if (auto answer = file->take(key)) return Result<std::string>{std::move(*answer)};
  if (const Failure* failure = failure_of(*file)) return Result<std::string>{failure->error};
  if (!awaited_) awaited_ = *ticket;
  return std::nullopt;
}

const ConfinedReading::Failure* ConfinedReading::failure_of(const File& file) {
  const uint64_t now = boot_ns();
  std::erase_if(failures_, [&](const Failure& failure) { return failure.until_ns <= now; });
  const auto at = std::find_if(failures_.begin(), failures_.end(), [&](const Failure& failure) {
    return failure.contents == file.contents();
  });
  return at == failures_.end() ? nullptr : &*at;
}

Result<Reading::Ticket> ConfinedReading::line_up(const FilePtr& file, wire::Kind kind,
                                                 std::string question) {
  for (const Pending& pending : pending_)
    if (pending.file == file && pending.kind == kind && pending.question == question)
      return pending.ticket;
  if (pending_.size() == kMostPending)
    return Error{Code::exhausted, "too many files are being read; try again later"};
  pending_.push_back({++last_ticket_, file, kind, std::move(question)});
  return last_ticket_;
}

bool ConfinedReading::is_answered(Ticket ticket) const {
  return std::none_of(pending_.begin(), pending_.end(),
                      [&](const Pending& pending) { return pending.ticket == ticket; });
}

size_t ConfinedReading::pending_until(Ticket last) const {
  return static_cast<size_t>(
      std::count_if(pending_.begin(), pending_.end(),
                    [&](const Pending& pending) { return pending.ticket <= last; }));
}

void ConfinedReading::report() {
  const uint64_t one = 1;
  (void)!::write(unreported_.get(), &one, sizeof(one));
}

// A question that a process has begun is completed: others may want the answer.
void ConfinedReading::give_up(Ticket ticket) {
  pending_.remove_if(
      [&](const Pending& pending) { return pending.ticket == ticket && !pending.process; });
}

// Answers for others may arrive meanwhile. After this they are notified, through fd().
void ConfinedReading::wait_for(Ticket ticket) {
  const bool had_unreported = drained(unreported_);
  while (patience_ns_ > 0 && !is_answered(ticket)) {
    const uint64_t begun = boot_ns();
    ready_.wait(static_cast<int>(patience_ns_ / kMillisecondNs) + 1);
    take_answers();
    const uint64_t waited = boot_ns() - begun;
    waited_ns_ += waited;
    patience_ns_ -= std::min(patience_ns_, waited);
  }
  if (had_unreported) report();
}

// ---- processes ----

void ConfinedReading::start_what_waits() {
  for (auto at = pending_.begin(); at != pending_.end();) {
    const auto next = std::next(at);
    if (!at->process) {
      const auto reader = reader_for(*at->file);
      if (!reader) {
        failed(*at, reader.error(), kSecondNs);
        pending_.erase(at);
      } else if (*reader) {
        start(*at, **reader);
      }
    }
    at = next;
  }
  set_timer();
}

void ConfinedReading::start(Pending& pending, Reader& reader) {
  const File& file = *pending.file;
  pending.process = reader.process.get();
  reader.used_ns = boot_ns();
  Status asked = ok();
  if (!reader.process->has(file.number()))
    asked = reader.process->open(file.number(), file.path(), file.fd(), file.named());
  if (asked) asked = reader.process->ask(pending.kind, file.number(), pending.question);
  if (asked) return;
  died(reader, reader.process->stop().reason);
  remove_ended();
}

Result<ConfinedReading::Reader*> ConfinedReading::reader_for(const File& file) {
  if (Reader* reader = idle_reader_of(file)) return reader;
  return new_reader_for(file);
}

// A process that has the file already, or else one that may have it.
ConfinedReading::Reader* ConfinedReading::idle_reader_of(const File& file) {
  Reader* found = nullptr;
  for (Reader& reader : readers_) {
    if (reader.process->is_busy()) continue;
    if (reader.process->has(file.number())) return &reader;
    if (reader.is_shared && file.is_of_root()) found = &reader;
  }
  return found;
}

Result<ConfinedReading::Reader*> ConfinedReading::new_reader_for(const File& file) {
  constexpr Reader* kNone = nullptr;
  for (const Reader& reader : readers_)
    if (!file.is_of_root() && reader.process->has(file.number())) return kNone;  // it is busy
  if (!make_room(file)) return kNone;
  auto process = ReadingProcess::start(limits_);
  if (!process) return process.error();
  if (auto watched = ready_.add((*process)->fd()); !watched) return watched.error();
  return &readers_.emplace_back(Reader{std::move(*process), file.is_of_root(), file.owner(), 0});
}

// May end the idle process that was used least recently.
bool ConfinedReading::make_room(const File& file) {
  const auto count = [&](const auto& which) {
    return static_cast<size_t>(std::count_if(readers_.begin(), readers_.end(), which));
  };
  const auto is_strangers = [](const Reader& reader) { return !reader.is_shared; };
  const auto is_of_owner = [&](const Reader& reader) {
    return !reader.is_shared && reader.owner == file.owner();
  };
  const bool stranger = !file.is_of_root();
  const auto end_one = [&](const auto& which) {
    auto oldest = readers_.end();
    for (auto at = readers_.begin(); at != readers_.end(); ++at)
      if (which(*at) && !at->process->is_busy() &&
          (oldest == readers_.end() || at->used_ns < oldest->used_ns))
        oldest = at;
    if (oldest == readers_.end()) return false;
    readers_.erase(oldest);
    return true;
  };
  if (stranger && count(is_of_owner) == kMostOfOwner && !end_one(is_of_owner)) return false;
  if (stranger && count(is_strangers) == kMostOfStrangers && !end_one(is_strangers)) return false;
  return readers_.size() < kMostReaders || end_one([](const Reader&) { return true; });
}

// ---- answers ----

void ConfinedReading::take_answers() {
  (void)drained(timer_);
  (void)drained(unreported_);
  for (auto at = readers_.begin(); at != readers_.end();) take_from(*at++);
  remove_ended();
  start_what_waits();
}

void ConfinedReading::take_from(Reader& reader) {
  using Process = ReadingProcess;
  const uint64_t deadline = reader.process->deadline_ns();
  auto came = reader.process->receive();
  if (auto* answer = std::get_if<Process::Answer>(&came))
    answered(reader, std::move(answer->bytes));
  else if (const auto* wish = std::get_if<Process::Wish>(&came))
    wished(reader, wish->path);
  else if (const auto* death = std::get_if<Process::Death>(&came))
    died(reader, death->reason);
  else if (deadline && deadline <= boot_ns())
    died(reader, reader.process->stop().reason);
}

std::list<ConfinedReading::Pending>::iterator ConfinedReading::asked_of(const Reader& reader) {
  return std::find_if(pending_.begin(), pending_.end(), [&](const Pending& pending) {
    return pending.process == reader.process.get();
  });
}

void ConfinedReading::answered(Reader& reader, std::string bytes) {
  const auto at = asked_of(reader);
  if (at == pending_.end()) return;
  at->file->keep(key_of(at->kind, at->question), std::move(bytes));
  pending_.erase(at);
}

void ConfinedReading::wished(Reader& reader, const std::string& path) {
  const auto at = asked_of(reader);
  const Fd fd =
      at == pending_.end() ? Fd{} : open_debug_file(path, at->file->path(), at->file->fd());
  if (!reader.process->give(fd.get())) died(reader, reader.process->stop().reason);
}

// The file that it was asked about has ended it.
void ConfinedReading::died(Reader& reader, const std::string& reason) {
  const auto at = asked_of(reader);
  if (at != pending_.end()) {
    const std::string& path = at->file->path();
    failed(*at, Error{Code::invalid, path + " could not be read: " + reason}, kFailureNs);
    pending_.erase(at);
  }
  reader.process.reset();
}

void ConfinedReading::failed(const Pending& pending, const Error& error, uint64_t for_ns) {
  if (failures_.size() == kMostFailures) failures_.erase(failures_.begin());
  failures_.push_back({pending.file->contents(), error, boot_ns() + for_ns});
}

void ConfinedReading::set_timer() {
  uint64_t first = 0;
  for (const Reader& reader : readers_)
    if (const uint64_t deadline = reader.process ? reader.process->deadline_ns() : 0)
      first = first ? std::min(first, deadline) : deadline;
  itimerspec at{};
  at.it_value = {.tv_sec = static_cast<time_t>(first / kSecondNs),
                 .tv_nsec = static_cast<long>(first % kSecondNs)};
  (void)::timerfd_settime(timer_.get(), TFD_TIMER_ABSTIME, &at, nullptr);
}

}  // namespace tracectl
