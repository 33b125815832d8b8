// SPDX-License-Identifier: BSD-2-Clause
//
// Stacks read by processes that can do nothing else, as confined_reading.h has files read for probes. The
// files of one program may lie about one another, as they make up its stacks together, and about no other
// program's: so each program has a process of its own, but for those of which root alone may write every
// file. One process reads all of these. What has ended its process, or taken too long, is left alone for
// a while.
#pragma once

#include <functional>
#include <list>
#include <memory>
#include <string>
#include <vector>

#include "daemon/base/readable_set.h"
#include "daemon/reading/file_identity.h"
#include "daemon/reading/reading_process.h"
#include "daemon/reading/stack_reader.h"

namespace tracectl {

// For one thread at a time.
class ConfinedStacks : public StackReading {
 public:
  // Told of what could not be read, once each time that this was tried.
  using OnFailure = std::function<void(const std::string& what)>;

  static Result<std::unique_ptr<ConfinedStacks>> start(const ReadingLimits& limits,
                                                       OnFailure on_failure);
  ~ConfinedStacks() override;

  std::unique_ptr<StackReader> open(std::vector<LoadedFile> files) override;
  void rest() override;
  int fd() const override { return ready_.fd(); }

 private:
  class Program;

  // A process, and whose files it reads.
  struct Reader {
    std::unique_ptr<ReadingProcess> process;
    bool is_shared = false;  // by programs of which root alone may write the files
    uid_t owner = 0;         // of a stranger's file
    uint64_t used_ns = 0;
    Program* asked = nullptr;  // whose answer is awaited; none: nobody waits for it any more
  };

  struct Failure {
    std::vector<FileIdentity> files;
    Error error;
    uint64_t until_ns = 0;
  };

  ConfinedStacks(const ReadingLimits& limits, OnFailure on_failure, ReadableSet ready);

  Status ask(Program& program, const StackQuestion& question);
  void forget(const Program& program);
  const Failure* failure_of(const Program& program);
  // Null: none is free.
  Result<Reader*> reader_for(const Program& program);
  bool make_room(const Program& program);
  void remove_ended();

  void take_answers();
  void take_from(Reader& reader);
  void answered(Reader& reader, const std::string& bytes);
  void wished(Reader& reader, const std::string& path);
  void died(Reader& reader, const std::string& reason);

  ReadingLimits limits_;
  OnFailure on_failure_;
  ReadableSet ready_;
  std::list<Reader> readers_;
  std::vector<Failure> failures_;  // the oldest first
  uint64_t last_program_ = 0;
};

}  // namespace tracectl
