// SPDX-License-Identifier: BSD-2-Clause
//
// What files say, asked of who reads them. Strangers write these files, so a daemon has them read by
// processes that can do nothing else (confined_reading.h); tests, and an engine that runs with its
// user's own rights, read them themselves (own_reading.h).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "daemon/base/fd.h"
#include "daemon/base/result.h"
#include "daemon/reading/probes.h"
#include "daemon/reading/stack_reader.h"

namespace tracectl {

struct FileFacts {
  std::string build_id;           // hex; empty if the file has none
  bool has_unwind_table = false;  // .eh_frame

  bool operator==(const FileFacts&) const = default;
};

// What find_probes() is asked.
struct Question {
  Pattern pattern;
  std::optional<Returns> returns = {};
  std::optional<Below> below = {};
  MatchBounds most = {};  // of the answer: the asker's, who stops reading it there

  bool operator==(const Question&) const = default;
};

// One file, in one state of it.
class FileReader {
 public:
  virtual ~FileReader() = default;

  virtual Result<FileFacts> facts() = 0;
  virtual Result<ProbeMatch> find(const Question& question) = 0;
  // The name of the function whose first byte has that offset in the file, if there is one.
  virtual Result<std::optional<std::string>> function_at(uint64_t offset) = 0;
};

// Who reads. Where that takes longer than the asker is to be held up an answer is an error (Code::busy),
// and not the last word: awaited() tells of it then, and who asks the same again when it has been
// answered gets the answer.
class Reading {
 public:
  using Ticket = uint64_t;

  virtual ~Reading() = default;

  virtual Result<std::shared_ptr<FileReader>> open(Fd fd, const std::string& path) = 0;
  // In the same way, for whichever thread wants it.
  virtual Result<std::unique_ptr<StackReading>> for_stacks() const = 0;
  // Gives up what is kept of files for the next question.
  virtual void forget_files() {}

  // A new request begins: nothing is awaited, and its questions may hold up the asker for a while.
  virtual void begin() {}
  // The first question since then that was not answered in time.
  virtual std::optional<Ticket> awaited() const { return std::nullopt; }
  virtual bool is_answered(Ticket) const { return true; }
  // Who asked is gone.
  virtual void give_up(Ticket) {}

  // Readable when take_answers() has something to do; -1: never.
  virtual int fd() const { return -1; }
  virtual void take_answers() {}
};

}  // namespace tracectl
