// SPDX-License-Identifier: BSD-2-Clause
//
// Reading by processes that can do nothing else. A file that takes its process over, or breaks it, must
// harm no other: so each file has a process of its own, but for those that root alone may write and that
// lie where this program does; one process reads many of these. Where a file ended its process, or took
// too long, that is the answer for a while, so that asking again costs nobody anything.
//
// There are few processes, and a question for which none is free waits its turn.
#pragma once

#include <list>
#include <memory>
#include <string>
#include <vector>

#include "daemon/base/readable_set.h"
#include "daemon/reading/confined_stacks.h"
#include "daemon/reading/file_identity.h"
#include "daemon/reading/file_reader.h"
#include "daemon/reading/reading_process.h"

namespace tracectl {

class ConfinedReading : public Reading {
 public:
  // `on_failure` is called by whichever thread reads for stacks.
  static Result<std::unique_ptr<ConfinedReading>> start(
      const ReadingLimits& limits = {}, ConfinedStacks::OnFailure on_failure = nullptr);
  ~ConfinedReading() override;

  Result<std::shared_ptr<FileReader>> open(Fd fd, const std::string& path) override;
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

  struct Pending {
    Ticket ticket = 0;
    FilePtr file;
    wire::Kind kind = wire::Kind::facts;
    std::string question;
    ReadingProcess* process = nullptr;  // that has been asked
  };

  // A process, and whose files it reads.
  struct Reader {
    std::unique_ptr<ReadingProcess> process;
    bool is_shared = false;  // by files that root alone may write
    uid_t owner = 0;
    uint64_t used_ns = 0;
  };

  // What went wrong with a file that is still the same.
  struct Failure {
    FileIdentity identity;
    Error error;
    uint64_t until_ns = 0;
  };

  ConfinedReading(const ReadingLimits& limits, ConfinedStacks::OnFailure on_failure,
                  ReadableSet ready, Fd timer, Fd untold);

  // None where it is still read.
  std::optional<Result<std::string>> ask(const FilePtr& file, wire::Kind kind,
                                         std::string question);
  const Failure* failure_of(const FileIdentity& identity);
  Result<Ticket> line_up(const FilePtr& file, wire::Kind kind, std::string question);
  void wait_for(Ticket ticket);
  size_t pending_until(Ticket last) const;  // that were asked no later than this one
  void tell();  // whoever awaits something looks whether it has been answered

  void start_what_waits();
  void start(Pending& pending, Reader& reader);
  // Null: none is free.
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
  Fd untold_;  // readable: what others await was answered while one was waited for
  std::list<Reader> readers_;
  std::list<Pending> pending_;  // in the order in which they were asked
  std::list<FilePtr> recent_;  // last asked first: a file is the same as long as it is here or held
  std::vector<Failure> failures_;  // the oldest first
  uint64_t last_file_ = 0;
  Ticket last_ticket_ = 0;
  uint64_t patience_ns_ = 0;  // that the request has left
  uint64_t second_ns_ = 0;    // when the second began of which this much has been waited:
  uint64_t waited_ns_ = 0;
  std::optional<Ticket> awaited_;
};

}  // namespace tracectl
