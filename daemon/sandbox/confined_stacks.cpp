// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/sandbox/confined_stacks.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "daemon/base/clock.h"
#include "daemon/sandbox/debug_file_door.h"
#include "daemon/sandbox/stack_wire.h"

namespace tracectl {
namespace {

constexpr size_t kMostStackReaders = 8;
constexpr size_t kMostPrograms = 7;  // of others than root, among these; one stays free for root's
constexpr size_t kMostProgramsOfOwner = 3;  // of one such owner
constexpr size_t kMostProgramFailures = 64;
constexpr uint64_t kProgramFailureNs = 60'000'000'000;

bool is_strangers(const LoadedFile& loaded) { return !is_of_root(loaded.file->status); }

}  // namespace

// ---- a program ----

class ConfinedStacks::Program : public StackReader {
 public:
  Program(ConfinedStacks& stacks, uint64_t number, std::vector<LoadedFile> files)
      : stacks_(stacks), number_(number), files_(std::move(files)) {
    const auto stranger = std::find_if(files_.begin(), files_.end(), is_strangers);
    if (stranger != files_.end()) owner_ = stranger->file->status.st_uid;
  }
  ~Program() override { stacks_.forget(*this); }

  Status ask(const StackQuestion& question) override { return stacks_.ask(*this, question); }

  std::optional<Result<StackAnswer>> take() override {
    stacks_.take_answers();
    return std::exchange(answer_, std::nullopt);
  }

  uint64_t number() const { return number_; }
  const std::vector<LoadedFile>& files() const { return files_; }
  bool is_of_root() const { return !owner_; }
  uid_t owner() const { return owner_.value_or(0); }
  std::string name() const { return files_.empty() ? "" : files_.front().file->path; }

  std::vector<FileIdentity> identities() const {
    std::vector<FileIdentity> all;
    for (const LoadedFile& loaded : files_) all.push_back(FileIdentity::of(loaded.file->status));
    return all;
  }

  void begin(const StackQuestion& question) { question_ = question; }
  const StackQuestion& question() const { return question_; }
  void end(Result<StackAnswer> answer) { answer_ = std::move(answer); }

 private:
  ConfinedStacks& stacks_;
  uint64_t number_;
  std::vector<LoadedFile> files_;
  std::optional<uid_t> owner_;  // owner of a file that is not root's, if there is one
  StackQuestion question_;
  std::optional<Result<StackAnswer>> answer_;
};

// ---- opening ----

Result<std::unique_ptr<ConfinedStacks>> ConfinedStacks::start(const ReadingLimits& limits,
                                                              OnFailure on_failure) {
  auto ready = ReadableSet::open();
  if (!ready) return ready.error();
  return std::unique_ptr<ConfinedStacks>{
      new ConfinedStacks(limits, std::move(on_failure), std::move(*ready))};
}

ConfinedStacks::ConfinedStacks(const ReadingLimits& limits, OnFailure on_failure, ReadableSet ready)
    : limits_(limits), on_failure_(std::move(on_failure)), ready_(std::move(ready)) {}

ConfinedStacks::~ConfinedStacks() = default;

std::unique_ptr<StackReader> ConfinedStacks::open(std::vector<LoadedFile> files) {
  return std::make_unique<Program>(*this, ++last_program_, std::move(files));
}

void ConfinedStacks::rest() {
  take_answers();
  readers_.remove_if([](const Reader& reader) { return !reader.process->is_busy(); });
}

void ConfinedStacks::forget(const Program& program) {
  for (Reader& reader : readers_) {
    if (reader.asked == &program) reader.asked = nullptr;
    if (!reader.process->has(program.number())) continue;
    const bool goes_on = reader.is_shared && (reader.process->is_busy() ||
                                              reader.process->close(program.number()).has_value());
    if (!goes_on) reader.process.reset();
  }
  remove_ended();
}

void ConfinedStacks::remove_ended() {
  readers_.remove_if([](const Reader& reader) { return !reader.process; });
}

// ---- asking ----

Status ConfinedStacks::ask(Program& program, const StackQuestion& question) {
  take_answers();
  if (const Failure* failure = failure_of(program)) return failure->error;
  const auto found = reader_for(program);
  if (!found) return found.error();
  if (!*found) return Error{Code::busy, "too many programs' files are being read"};
  Reader& reader = **found;
  reader.asked = &program;
  reader.used_ns = boot_ns();
  program.begin(question);
  Status asked = ok();
  if (!reader.process->has(program.number()))
    asked = reader.process->load(program.number(), program.files());
  if (asked)
    asked = reader.process->ask(wire::Kind::stacks, program.number(), wire::encode(question));
  if (!asked) died(reader, reader.process->stop().reason);
  remove_ended();
  return ok();
}

const ConfinedStacks::Failure* ConfinedStacks::failure_of(const Program& program) {
  const uint64_t now = boot_ns();
  std::erase_if(failures_, [&](const Failure& failure) { return failure.until_ns <= now; });
  if (failures_.empty()) return nullptr;
  const auto files = program.identities();
  const auto at = std::find_if(failures_.begin(), failures_.end(),
                               [&](const Failure& failure) { return failure.files == files; });
  return at == failures_.end() ? nullptr : &*at;
}

Result<ConfinedStacks::Reader*> ConfinedStacks::reader_for(const Program& program) {
  constexpr Reader* kNone = nullptr;
  for (Reader& reader : readers_)
    if (reader.is_shared ? program.is_of_root() : reader.process->has(program.number()))
      return reader.process->is_busy() ? kNone : &reader;
  if (!make_room(program)) return kNone;
  auto process = ReadingProcess::start(limits_);
  if (!process) return process.error();
  if (auto watched = ready_.add((*process)->fd()); !watched) return watched.error();
  return &readers_.emplace_back(
      Reader{std::move(*process), program.is_of_root(), program.owner(), 0, nullptr});
}

// May end the idle process that was used least recently.
bool ConfinedStacks::make_room(const Program& program) {
  if (program.is_of_root()) return true;
  const auto has_room = [&](size_t most, const auto& which) {
    size_t count = 0;
    auto oldest = readers_.end();
    for (auto at = readers_.begin(); at != readers_.end(); ++at) {
      if (!which(*at)) continue;
      ++count;
      if (!at->process->is_busy() && (oldest == readers_.end() || at->used_ns < oldest->used_ns))
        oldest = at;
    }
    if (count < most) return true;
    if (oldest == readers_.end()) return false;
    readers_.erase(oldest);
    return true;
  };
  const auto of_strangers = [](const Reader& reader) { return !reader.is_shared; };
  const auto of_owner = [&](const Reader& reader) {
    return !reader.is_shared && reader.owner == program.owner();
  };
  return has_room(kMostProgramsOfOwner, of_owner) && has_room(kMostPrograms, of_strangers);
}

// ---- answers ----

void ConfinedStacks::take_answers() {
  for (Reader& reader : readers_) take_from(reader);
  remove_ended();
}

void ConfinedStacks::take_from(Reader& reader) {
  using Process = ReadingProcess;
  const uint64_t deadline = reader.process->deadline_ns();
  const auto came = reader.process->receive();
  if (const auto* answer = std::get_if<Process::Answer>(&came))
    answered(reader, answer->bytes);
  else if (const auto* wish = std::get_if<Process::Wish>(&came))
    wished(reader, wish->path);
  else if (const auto* death = std::get_if<Process::Death>(&came))
    died(reader, death->reason);
  else if (deadline && deadline <= boot_ns())
    died(reader, reader.process->stop().reason);
}

void ConfinedStacks::answered(Reader& reader, const std::string& bytes) {
  Program* const program = reader.asked;
  if (!program) return;
  auto answer = wire::decode_stack_answer(bytes, program->question());
  if (!answer) return died(reader, answer.error().message);
  reader.asked = nullptr;
  program->end(std::move(answer));
}

// It is not known which of the program's files requested it, because any of them could.
void ConfinedStacks::wished(Reader& reader, const std::string& path) {
  Fd fd;
  if (reader.asked)
    for (const LoadedFile& loaded : reader.asked->files())
      if (!fd) fd = open_debug_file(path, loaded.file->path, loaded.file->fd.get());
  if (!reader.process->give(fd.get())) died(reader, reader.process->stop().reason);
}

// The program that it was asked about has ended it.
void ConfinedStacks::died(Reader& reader, const std::string& reason) {
  reader.process.reset();
  Program* const program = std::exchange(reader.asked, nullptr);
  if (!program) return;
  Error error{Code::invalid,
              "the stacks of " + program->name() +
                  " stay addresses for a minute, as its files could not be read: " + reason};
  if (failures_.size() == kMostProgramFailures) failures_.erase(failures_.begin());
  failures_.push_back({program->identities(), error, boot_ns() + kProgramFailureNs});
  if (on_failure_) on_failure_(error.message);
  program->end(std::move(error));
}

}  // namespace tracectl
