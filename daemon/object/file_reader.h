// SPDX-License-Identifier: BSD-2-Clause
//
// Questions about the contents of files. The files are untrusted, so a daemon has them read by
// processes that can do nothing else (confined_reading.h); tests, and an engine that runs with its
// user's own rights, read them in their own process (own_reading.h).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "daemon/base/fd.h"
#include "daemon/base/result.h"
#include "daemon/object/named_debug_file.h"
#include "daemon/object/probes.h"
#include "daemon/object/stack_reader.h"

namespace tracectl {

struct FileFacts {
  std::string build_id;           // hex; empty if the file has none
  bool has_unwind_table = false;  // .eh_frame

  bool operator==(const FileFacts&) const = default;
  template <class Self, class F> static void fields(Self& s, F&& f) {
    f("build_id", s.build_id);
    f("has_unwind_table", s.has_unwind_table);
  }
};

// The parameters of find_probes(), and of add_symbols().
struct Question {
  Pattern pattern;
  std::optional<Returns> returns = {};
  std::optional<Below> below = {};
  std::vector<std::string> symbols = {};  // whose addresses each site gets (symbols.h)
  std::vector<std::string> field_paths =
      {};                     // of the fields that arguments and results get (field_finder.h)
  uint32_t field_levels = 0;  // all fields of arguments are listed, so many levels deep
  SiteCosts costs = {};
  MatchBounds most = {};  // of the answer: the asker's limits, at which reading stops

  bool operator==(const Question&) const = default;
  // Without the limits, which the asker applies itself.
  template <class Self, class F> static void fields(Self& s, F&& f) {
    f("pattern", s.pattern);
    f("returns", s.returns);
    f("below", s.below);
    f("symbols", s.symbols);
    f("field_paths", s.field_paths);
    f("field_levels", s.field_levels);
    f("costs", s.costs);
  }
};

// One file, in one state.
class FileReader {
 public:
  virtual ~FileReader() = default;

  virtual Result<FileFacts> facts() = 0;
  virtual Result<ProbeMatch> find(const Question& question) = 0;
  // The name of the function whose first byte has that offset in the file, if there is one.
  virtual Result<std::optional<std::string>> function_at(uint64_t offset) = 0;
};

// A source of answers. If an answer would take longer than the asker may be held up, it is an error
// (Code::busy), which is not final: awaited() then identifies it, and the asker gets the answer by
// asking the same again once it is there.
class Reading {
 public:
  using Ticket = uint64_t;

  virtual ~Reading() = default;

  // `named`: its debug file, if a user has named one. If it does not belong to the file, that is the answer to
  // all questions.
  virtual Result<std::shared_ptr<FileReader>> open(Fd fd, const std::string& path,
                                                   std::optional<NamedDebugFile> named) = 0;
  // The same way of reading, for the thread that reads stacks.
  virtual Result<std::unique_ptr<StackReading>> for_stacks() const = 0;
  // Drops what is kept about files for further questions.
  virtual void forget_files() {}

  // Begins a new request: nothing is awaited, and its questions may hold up the asker for a while.
  virtual void begin() {}
  // The first question of this request that was not answered in time.
  virtual std::optional<Ticket> awaited() const { return std::nullopt; }
  virtual bool is_answered(Ticket) const { return true; }
  // The asker no longer needs the answer.
  virtual void give_up(Ticket) {}

  // Readable when take_answers() has something to do. -1 if there is never anything.
  virtual int fd() const { return -1; }
  virtual void take_answers() {}
};

}  // namespace tracectl
