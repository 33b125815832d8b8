// SPDX-License-Identifier: BSD-2-Clause
//
// Questions about stacks, answered from the files of programs: the counterpart of file_reader.h for
// stacks. A question is about all files of a program, because unwinding goes from one to another.
#pragma once

#include <sys/stat.h>

#include <compare>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "daemon/base/fd.h"
#include "daemon/base/result.h"
#include "daemon/model/stack.h"

namespace tracectl {

struct OpenedFile {
  Fd fd;
  std::string path;
  struct stat status {};
};

// A file with its code mappings in a process.
struct LoadedFile {
  // Addresses in the process; `end` is past the last byte.
  struct Range {
    uint64_t start = 0, end = 0;
    uint64_t file_offset = 0;

    bool operator==(const Range&) const = default;
    template <class Self, class F> static void fields(Self& s, F&& f) {
      f("start", s.start);
      f("end", s.end);
      f("file_offset", s.file_offset);
    }
  };

  std::shared_ptr<const OpenedFile> file;
  std::vector<Range> ranges;

  bool operator==(const LoadedFile&) const = default;
};

struct CodeAddress {
  uint64_t address = 0;           // in the process
  bool is_where_returns = false;  // belongs to the call before it; else an instruction

  auto operator<=>(const CodeAddress&) const = default;
  template <class Self, class F> static void fields(Self& s, F&& f) {
    f("address", s.address);
    f("is_where_returns", s.is_where_returns);
  }
};

// A copied stack, unwound.
struct Unwound {
  StackEnd end = StackEnd::outermost;
  std::vector<uint64_t> addresses = {};  // at least that of the registers
  // For each address, the value of the stack pointer when the frame continues there; 0 if not
  // known.
  std::vector<uint64_t> stack_pointers = {};

  bool operator==(const Unwound&) const = default;
  template <class Self, class F> static void fields(Self& s, F&& f) {
    f("end", s.end);
    f("addresses", s.addresses);
    f("stack_pointers", s.stack_pointers);
  }
};

// Several stacks or addresses in one question. RawStacks are copies, to be unwound.
using Copies = std::vector<std::shared_ptr<const RawStack>>;
using StackQuestion = std::variant<Copies, std::vector<CodeAddress>>;

// In the order of the question. For an address there are several frames if functions were inlined
// there, and none if no file has code there. The asker fills in the frames' modules.
using Frames = std::vector<Frame>;
using StackAnswer = std::variant<std::vector<Unwound>, std::vector<Frames>>;

// The limits of one question.
inline constexpr size_t kMostCopiedBytesAsked = 128 << 10;  // except for a single copy
inline constexpr size_t kMostCopiesAsked = 256;
inline constexpr size_t kMostAddressesAsked = 1024;

// One program, with its files as mapped by a process.
class StackReader {
 public:
  virtual ~StackReader() = default;

  // Begins to read for an answer; none may be pending. Code::busy: ask again later. Any other error
  // is the answer.
  virtual Status ask(const StackQuestion& question) = 0;
  // The answer, or none while it is being read. Does not wait.
  virtual std::optional<Result<StackAnswer>> take() = 0;
};

class StackReading {
 public:
  virtual ~StackReading() = default;

  virtual std::unique_ptr<StackReader> open(std::vector<LoadedFile> files) = 0;
  // Drops what is kept for the next question.
  virtual void rest() {}
  // Readable when an answer may have arrived; -1 if none is ever waited for. Always the same.
  virtual int fd() const { return -1; }
};

}  // namespace tracectl
