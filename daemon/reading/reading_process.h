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
#include "daemon/reading/stack_reader.h"
#include "daemon/reading/wire.h"
#include "daemon/reading/wire_socket.h"

namespace tracectl {

// What reading may take for one answer.
struct ReadingLimits {
  uint64_t cpu_s = 10;
  uint64_t time_s = 60;  // by the clock, as what a file lies on can be slow, or stand still
};

// A process that reads files for this one, and can do nothing else (confinement.h). Nothing that it says
// is believed but that somebody has said it. Ends with its owner, and with the thread that started it.
class ReadingProcess {
 public:
  static Result<std::unique_ptr<ReadingProcess>> start(const ReadingLimits& limits);
  ~ReadingProcess();

  // Readable when receive() has something to do.
  int fd() const { return socket_.get(); }

  // Whether it has the file, by its number.
  bool has(uint64_t file) const;
  bool is_busy() const { return asked_ns_ != 0; }
  // When the answer that is awaited will have taken too long; 0: none is.
  uint64_t deadline_ns() const;

  // Gives it a file. The one that was used least recently goes where there are many.
  Status open(uint64_t file, const std::string& path, int descriptor);
  // Gives it a program, which has a number as a file has.
  Status load(uint64_t program, const std::vector<LoadedFile>& files);
  Status close(uint64_t file);
  Status close_all();
  // Of a file that it has, and while it is not busy.
  Status ask(wire::Kind kind, uint64_t file, std::string_view question);
  // What was wished for; -1: it cannot be had.
  Status give(int descriptor);

  struct Nothing {};
  struct Answer {
    std::string bytes;
  };
  struct Wish {
    std::string path;
  };
  struct Death {
    std::string reason;  // as the end of a sentence about the file that was asked about
  };
  // What has come; waits for nothing. Nothing is said after a death.
  std::variant<Nothing, Answer, Wish, Death> receive();
  // As it takes too long.
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
