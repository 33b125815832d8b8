// SPDX-License-Identifier: BSD-2-Clause
//
// Reads stacks in processes that can do nothing else, as confined_reading.h reads files for probes.
// The files of one program can give false answers about one another, because its stacks depend on
// all of them, but must not about another program's. So each program has a process of its own,
// except programs of which only root can write every file: one process reads all of these. A
// program that ended its process, or took too long, is not read for a while.
#pragma once

#include <functional>
#include <list>
#include <memory>
#include <string>
#include <vector>

#include "daemon/base/readable_set.h"
#include "daemon/object/file_identity.h"
#include "daemon/object/stack_reader.h"
#include "daemon/sandbox/reading_process.h"

namespace tracectl {

// Used by one thread at a time.
class ConfinedStacks : public StackReading {
 public:
  // Called with what could not be read, once for each attempt.
  using OnFailure = std::function<void(const std::string& what)>;

  static Result<std::unique_ptr<ConfinedStacks>> start(const ReadingLimits& limits,
                                                       OnFailure on_failure);
  ~ConfinedStacks() override;

  std::unique_ptr<StackReader> open(std::vector<LoadedFile> files) override;
  void rest() override;
  int fd() const override { return ready_.fd(); }

 private:
  class Program;

  // A process, and the kind of programs that it reads.
  struct Reader {
    std::unique_ptr<ReadingProcess> process;
    bool is_shared = false;  // by programs whose files only root can write
    uid_t owner = 0;         // of a file that is not root's
    uint64_t used_ns = 0;
    Program* asked = nullptr;  // whose answer is pending; null if it is no longer wanted
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
  // Null if none is free.
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
