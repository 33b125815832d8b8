// SPDX-License-Identifier: BSD-2-Clause
//
// Questions and answers between the daemon and a process that reads files. Frames of a length and a
// kind, with bytes as in trace files (daemon/recording/bytes.h).
//
// A file may have taken over the process that reads it, so what comes from there is anybody's bytes.
// Answers are held to what could be true of any file: lengths and counts within bounds, numbers of
// enumerations that exist, names of probes that are of the file that was asked about, sites within it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "daemon/base/result.h"
#include "daemon/reading/file_reader.h"

namespace tracectl::wire {

// ---- frames ----

enum class Kind : uint8_t {
  // To the process that reads; those of a file begin with its number.
  open,         // its path; a descriptor comes with it
  close,        // it is asked nothing more
  facts,        // an answer is awaited
  find,         // an answer is awaited
  function_at,  // an answer is awaited
  load,         // a file of a program, which has a number as a file has; a descriptor comes with it
  stacks,       // of a program: an answer is awaited (stack_wire.h)
  debug_file,   // what was wished for: a descriptor, or none
  // From it.
  answer,
  wish,  // the path of a debug file
};

struct Frame {
  Kind kind = Kind::answer;
  std::string_view bytes;
};

inline constexpr size_t kHeaderBytes = 5;  // length of what follows the header, little endian; kind
inline constexpr size_t kMostFrameBytes = 64 << 20;

// What a header says of the bytes behind it.
struct Header {
  Kind kind = Kind::answer;
  uint32_t bytes = 0;
};

std::string frame_of(Kind kind, std::string_view bytes);
// Fails where that cannot be.
Result<Header> header_of(std::string_view bytes);
// The first frame, once all of it is there. Fails where no more of it is to be read.
Result<std::optional<Frame>> first_frame(std::string_view received);
inline size_t size_of(const Frame& frame) { return kHeaderBytes + frame.bytes.size(); }

// ---- what frames hold ----

std::string encode(const Question& question);
std::optional<Question> decode_question(std::string_view bytes);

// An answer: an error, or what was asked for.
std::string encode(const Error& error);
std::string encode(const Result<FileFacts>& facts);
std::string encode(const Result<ProbeMatch>& match);
std::string encode(const Result<std::optional<std::string>>& function);

// The file that was asked about, against which its answers are held.
struct Asked {
  const std::string& path;
  uint64_t size_bytes = 0;
  ProbeKind kind = ProbeKind::function;
  MatchBounds most = {};  // an answer that has more is read no further, and is an error
};

// An answer that cannot be true is an error.
Result<FileFacts> decode_facts(std::string_view answer);
Result<ProbeMatch> decode_match(std::string_view answer, const Asked& asked);
Result<std::optional<std::string>> decode_function(std::string_view answer);

}  // namespace tracectl::wire
