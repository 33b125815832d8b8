// SPDX-License-Identifier: BSD-2-Clause
//
// Messages between the daemon and a process that reads files. Frames have a length and a kind, and
// values encoded by their lists of fields (daemon/base/binary.h).
//
// A file may have taken over the process that reads it, so messages from there are untrusted.
// Answers must be possible for some file: lengths and counts within bounds, numbers of existing
// enumerators, names of probes of the file in question, sites within it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/base/result.h"
#include "daemon/object/file_reader.h"

namespace tracectl::wire {

// ---- frames ----

enum class Kind : uint8_t {
  // To the reading process. Messages about a file begin with its number.
  open,              // its path; with a descriptor
  close,             // no more questions about it
  facts,             // expects an answer
  find,              // expects an answer
  function_at,       // expects an answer
  load,              // a file of a program, which has a number like a file; with a descriptor
  stacks,            // of a program; expects an answer (stack_wire.h)
  debug_file,        // the reply to `wish`: a descriptor, or none
  named_debug_file,  // of the file that is opened next: its path; with a descriptor
  // From the reading process.
  answer,
  wish,  // the path of a debug file
};

struct Frame {
  Kind kind = Kind::answer;
  std::string_view bytes;
};

inline constexpr size_t kHeaderBytes = 5;  // length of the rest, little endian, and kind
inline constexpr size_t kMostFrameBytes = 64 << 20;

// The contents of a frame's header.
struct Header {
  Kind kind = Kind::answer;
  uint32_t bytes = 0;
};

std::string frame_of(Kind kind, std::string_view bytes);
// Fails for impossible values.
Result<Header> header_of(std::string_view bytes);
// The first frame, once it is complete. Fails if the data cannot be a frame.
Result<std::optional<Frame>> first_frame(std::string_view received);
inline size_t size_of(const Frame& frame) { return kHeaderBytes + frame.bytes.size(); }

// ---- contents of frames ----

std::string encode(const Question& question);
std::optional<Question> decode_question(std::string_view bytes);

// An answer: an error, or the requested data.
std::string encode(const Error& error);
std::string encode(const Result<FileFacts>& facts);
std::string encode(const Result<ProbeMatch>& match);
std::string encode(const Result<std::optional<std::string>>& function);

// The file in question, against which its answers are checked.
struct Asked {
  const std::string& path;
  uint64_t size_bytes = 0;
  ProbeKind kind = ProbeKind::function;
  MatchBounds most = {};  // an answer with more is not read further, and is an error
  const std::vector<std::string>* symbols = nullptr;  // that each site must have; null: any
};

// Fail if the answer cannot be true.
Result<FileFacts> decode_facts(std::string_view answer);
Result<ProbeMatch> decode_match(std::string_view answer, const Asked& asked);
// Whether they can be true of the file.
bool are_possible(const std::vector<Probe>& probes, const Asked& asked);
Result<std::optional<std::string>> decode_function(std::string_view answer);

}  // namespace tracectl::wire
