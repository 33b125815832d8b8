// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "daemon/base/fd.h"
#include "daemon/base/result.h"
#include "daemon/object/named_debug_file.h"
#include "daemon/object/stack_reader.h"
#include "daemon/sandbox/wire.h"
#include "daemon/sandbox/wire_socket.h"

namespace tracectl {

// Limits of reading for one answer.
struct ReadingLimits {
  uint64_t cpu_s = 10;
  uint64_t time_s = 60;  // elapsed time, because a file's medium can be slow, or hang
};

// A process that reads files for this one, and can do nothing else (confinement.h). Its messages
// are not trusted. It ends with its owner, and with the thread that started it.
class ReadingProcess {
 public:
  static Result<std::unique_ptr<ReadingProcess>> start(const ReadingLimits& limits);
  ~ReadingProcess();

  // Readable when receive() has something to do.
  int fd() const { return socket_.get(); }

  // Whether it has the file with this number.
  bool has(uint64_t file) const;
  bool is_busy() const { return asked_ns_ != 0; }
  // The time by which the pending answer must have arrived; 0 if none is pending.
  uint64_t deadline_ns() const;

  // Passes a file to it, and the debug file that a user has named for it, or null. If it has many, the one
  // that was used least recently is closed.
  Status open(uint64_t file, const std::string& path, int descriptor, const NamedDebugFile* named);
  // Passes a program to it. Programs share the numbers of files.
  Status load(uint64_t program, const std::vector<LoadedFile>& files);
  Status close(uint64_t file);
  Status close_all();
  // Asks about a file that it has. Only while it is not busy.
  Status ask(wire::Kind kind, uint64_t file, std::string_view question);
  // Passes the requested file to it; -1 if it cannot have it.
  Status give(int descriptor);

  struct Nothing {};
  struct Answer {
    std::string bytes;
  };
  struct Wish {
    std::string path;
  };
  struct Death {
    std::string reason;  // end of a sentence about the file in question
  };
  // The next message, without waiting. There are none after a death.
  std::variant<Nothing, Answer, Wish, Death> receive();
  // Ends it, because it takes too long.
  Death stop();

 private:
  ReadingProcess(pid_t pid, Fd socket, const ReadingLimits& limits);
  Status make_room();
  bool fill();
  Death death();
  std::string reason_of(int status) const;
  Status limit_cpu() const;

  static constexpr size_t kMostFiles = 64;

  pid_t pid_;
  Fd socket_;
  ReadingLimits limits_;
  std::list<uint64_t> files_;  // last used first
  uint64_t asked_ns_ = 0;      // 0: it has answered
  std::string received_;
};

}  // namespace tracectl
