// SPDX-License-Identifier: BSD-2-Clause
//
// The parts of a trace file with a fixed size. docs/trace-file.md describes the whole format.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "daemon/base/result.h"

namespace tracectl::recording {

// Contains a byte that is not text, and line ends, which a transfer as text would change.
inline constexpr std::string_view kFileMagic{"\x89TCT\r\n\x1a\n", 8};
inline constexpr uint16_t kVersion = 1;
inline constexpr size_t kFileHeaderBytes = 64;
inline constexpr size_t kBlockHeaderBytes = 64;
// A block ends when its records have kBlockBytes; readers refuse blocks larger than
// kMostBlockBytes.
inline constexpr size_t kBlockBytes = 64 << 10;
inline constexpr size_t kMostBlockBytes = 1 << 20;

struct FileHeader {
  uint16_t version = kVersion;
  uint64_t id = 0;                 // random; each block of the file has it
  int64_t wall_minus_boot_ns = 0;  // CLOCK_REALTIME - CLOCK_BOOTTIME when it was begun
  bool has_end_block = false;      // its writer ends it with a block of kind `end`
};

std::string encode(const FileHeader& header);
// Decodes the first bytes of a file. Refuses files that are not trace files, and newer versions.
Result<FileHeader> decode_file_header(std::string_view bytes);

enum class BlockKind : uint8_t {
  definitions = 1,  // of numbers in later blocks
  events = 2,       // of one CPU
  end = 3,          // the last one of the file
};
enum class Compression : uint8_t { none = 0, zstd = 1 };

// Written after the bytes it counts, so a reader that sees it finds them complete.
struct BlockHeader {
  static constexpr uint16_t kNoCpu = 0xffff;

  BlockKind kind = BlockKind::events;
  Compression compression = Compression::none;
  uint16_t cpu = kNoCpu;
  uint32_t stored_bytes = 0;  // after the header
  uint32_t plain_bytes = 0;   // of its records, not compressed
  uint32_t records = 0;
  uint64_t first_ns = 0, last_ns = 0;  // CLOCK_BOOTTIME, of its records; 0 for definitions
  uint64_t file_id = 0;
  uint64_t checksum = 0;  // of the bytes after the header
};

std::string encode(const BlockHeader& header);
// None if these bytes are not the header of a block of this file. Its kind or compression may be
// unknown; its size is valid nevertheless.
std::optional<BlockHeader> decode_block_header(std::string_view bytes, uint64_t file_id);
// The first bytes of such a header.
std::string_view block_magic();

uint64_t checksum_of(std::string_view bytes);

// The contents of a file's last block.
struct Ending {
  bool has_all_losses = false;  // all losses are recorded as such; else the end is unknown
  std::string why = {};         // why the recording ended before it was stopped; else empty
};

std::string encode(const Ending& ending);
std::optional<Ending> decode_ending(std::string_view records);

// The kinds of records. The first varint of a record holds its kind; in blocks of events also flags
// for its members.
enum class DefinitionKind : uint8_t {
  text = 1,
  source = 2,
  thread = 3,
  frame = 4,
  stack = 5,
  reason = 6,  // why the file was written
};

// Of an argument or a result.
enum class RecordedPlace : uint8_t {
  readable = 0,
  unreadable = 1,
  nothing = 2,
  as_text = 3,  // a struct that a function returns: the result in an event is a text
};

enum class RecordKind : uint8_t { hit = 0, returned = 1, unwound = 2, latency = 3, lost = 4 };
enum RecordBit : uint64_t {
  kRecordKinds = 7,  // the bits of enum RecordKind
  // The member is in the record; otherwise it is the same as in the block's last record.
  kHasThread = 1 << 3,
  kHasSource = 1 << 4,
  kHasCall = 1 << 5,
  kHasDuration = 1 << 6,
  // Rare members: with one of them the first varint takes two bytes.
  kHasEpoch = 1 << 7,
  kHasStack = 1 << 8,
  kHasTag = 1 << 9,
  kHasMissing = 1 << 10,  // arguments that could not be read
  kHasResult = 1 << 11,
  kHasCount = 1 << 12,       // of arguments, which differs from its source's
  kHasResultText = 1 << 13,  // at the record's end
  kHasOffCpu = 1 << 14,      // two parts of the duration
};

inline constexpr size_t kMostArguments = 64;
inline constexpr size_t kMostStackFrames = 4096;  // those inlined among them
inline constexpr size_t kMostReasonBytes = 4096;
inline constexpr size_t kMostWhyBytes = 64;         // why a recording ended early
inline constexpr size_t kMostTextBytes = 64 << 10;  // of a definition: the rest is cut off

}  // namespace tracectl::recording
