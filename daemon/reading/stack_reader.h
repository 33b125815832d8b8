// SPDX-License-Identifier: BSD-2-Clause
//
// What the files of programs say of stacks, asked of who reads them: what file_reader.h is for probes.
// All files of a program are asked together, as unwinding goes from one to the other.
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

// A file as a process has its code in memory.
struct LoadedFile {
  // Addresses in the process; `end` is past the last byte.
  struct Range {
    uint64_t start = 0, end = 0;
    uint64_t file_offset = 0;

    bool operator==(const Range&) const = default;
  };

  std::shared_ptr<const OpenedFile> file;
  std::vector<Range> ranges;

  bool operator==(const LoadedFile&) const = default;
};

struct CodeAddress {
  uint64_t address = 0;           // in the process
  bool is_where_returns = false;  // it belongs to the call before it; else it is an instruction's

  auto operator<=>(const CodeAddress&) const = default;
};

// A copied stack, unwound.
struct Unwound {
  StackEnd end = StackEnd::outermost;
  std::vector<uint64_t> addresses = {};  // at least that of the registers
  // Of each address: where the stack pointer is as the frame goes on there. 0 if it is not known.
  std::vector<uint64_t> stack_pointers = {};

  bool operator==(const Unwound&) const = default;
};

// Several stacks or addresses at once. RawStacks are copies, to be unwound.
using Copies = std::vector<std::shared_ptr<const RawStack>>;
using StackQuestion = std::variant<Copies, std::vector<CodeAddress>>;

// In the order of the question. Of an address: several frames where functions were inlined there, and
// none where no file's code is. A frame's module is for the asker to know.
using Frames = std::vector<Frame>;
using StackAnswer = std::variant<std::vector<Unwound>, std::vector<Frames>>;

// At most so much at once.
inline constexpr size_t kMostCopiedBytesAsked = 128 << 10;  // but for a single copy
inline constexpr size_t kMostCopiesAsked = 256;
inline constexpr size_t kMostAddressesAsked = 1024;

// One program, as a process had it in memory.
class StackReader {
 public:
  virtual ~StackReader() = default;

  // Begins to read for an answer, where none is awaited. Code::busy: to be asked again later; another error
  // is the answer.
  virtual Status ask(const StackQuestion& question) = 0;
  // The answer; none: it is still read. Waits for nothing.
  virtual std::optional<Result<StackAnswer>> take() = 0;
};

class StackReading {
 public:
  virtual ~StackReading() = default;

  virtual std::unique_ptr<StackReader> open(std::vector<LoadedFile> files) = 0;
  // Gives up what is kept for the next question.
  virtual void rest() {}
  // Readable when an answer may have come; -1: none is ever waited for. Stays the same.
  virtual int fd() const { return -1; }
};

}  // namespace tracectl
