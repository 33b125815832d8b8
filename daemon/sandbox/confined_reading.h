// SPDX-License-Identifier: BSD-2-Clause
//
// Reads files in processes that can do nothing else. A file that takes over its process, or crashes
// it, must not affect other files. So each file has a process of its own, except files that only
// root can write and that are on this program's file system: one process reads many of these. If a
// file ended its process, or took too long, that is the answer for a while, so that repeated
// questions cost nothing.
//
// There are few processes; a question waits until one is free.
#pragma once

#include <list>
#include <memory>
#include <string>
#include <vector>

#include "daemon/base/readable_set.h"
#include "daemon/object/file_identity.h"
#include "daemon/object/file_reader.h"
#include "daemon/sandbox/confined_stacks.h"
#include "daemon/sandbox/reading_process.h"

namespace tracectl {

class ConfinedReading : public Reading {
 public:
  // `on_failure` is called by the thread that reads for stacks.
  static Result<std::unique_ptr<ConfinedReading>> start(
      const ReadingLimits& limits = {}, ConfinedStacks::OnFailure on_failure = nullptr);
  ~ConfinedReading() override;

  Result<std::shared_ptr<FileReader>> open(Fd fd, const std::string& path,
                                           std::optional<NamedDebugFile> named) override;
  Result<std::unique_ptr<StackReading>> for_stacks() const override;
  void forget_files() override;
  void begin() override;
  std::optional<Ticket> awaited() const override { return awaited_; }
  bool is_answered(Ticket ticket) const override;
  void give_up(Ticket ticket) override;
  int fd() const override { return ready_.fd(); }
  void take_answers() override;

 private:
  class File;
  using FilePtr = std::shared_ptr<File>;

  // What the answers depend on: the file, and the debug file that a user has named for it.
  struct Contents {
    FileIdentity file;
    std::optional<FileIdentity> named;
    bool operator==(const Contents&) const = default;
  };

  struct Pending {
    Ticket ticket = 0;
    FilePtr file;
    wire::Kind kind = wire::Kind::facts;
    std::string question;
    ReadingProcess* process = nullptr;  // the process that was asked
  };

  // A process, and the kind of files that it reads.
  struct Reader {
    std::unique_ptr<ReadingProcess> process;
    bool is_shared = false;  // by files that only root can write
    uid_t owner = 0;
    uint64_t used_ns = 0;
  };

  // The failure to read a file, which holds while the file does not change.
  struct Failure {
    Contents contents;
    Error error;
    uint64_t until_ns = 0;
  };

  ConfinedReading(const ReadingLimits& limits, ConfinedStacks::OnFailure on_failure,
                  ReadableSet ready, Fd timer, Fd unreported);

  // None while it is still being read.
  std::optional<Result<std::string>> ask(const FilePtr& file, wire::Kind kind,
                                         std::string question);
  const Failure* failure_of(const File& file);
  Result<Ticket> line_up(const FilePtr& file, wire::Kind kind, std::string question);
  void wait_for(Ticket ticket);
  size_t pending_until(Ticket last) const;  // asked no later than this one
  void report();  // makes fd() readable, so that all who await an answer check for it

  void start_what_waits();
  void start(Pending& pending, Reader& reader);
  // Null if none is free.
  Result<Reader*> reader_for(const File& file);
  Reader* idle_reader_of(const File& file);
  Result<Reader*> new_reader_for(const File& file);
  bool make_room(const File& file);
  void remove_ended();

  void take_from(Reader& reader);
  void answered(Reader& reader, std::string bytes);
  void wished(Reader& reader, const std::string& path);
  void died(Reader& reader, const std::string& reason);
  void failed(const Pending& pending, const Error& error, uint64_t for_ns);
  std::list<Pending>::iterator asked_of(const Reader& reader);
  void set_timer();

  ReadingLimits limits_;
  ConfinedStacks::OnFailure on_failure_;
  ReadableSet ready_;
  Fd timer_;
  Fd unreported_;  // readable if answers for others arrived while one was waited for
  std::list<Reader> readers_;
  std::list<Pending> pending_;  // in the order of the questions
  std::list<FilePtr> recent_;   // latest first; a file keeps its identity while it is here or held
  std::vector<Failure> failures_;  // the oldest first
  uint64_t last_file_ = 0;
  Ticket last_ticket_ = 0;
  uint64_t patience_ns_ = 0;  // the rest of the request's waiting time
  uint64_t second_ns_ = 0;    // start of the second in which requests have waited for:
  uint64_t waited_ns_ = 0;
  std::optional<Ticket> awaited_;
};

}  // namespace tracectl
