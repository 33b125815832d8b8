// SPDX-License-Identifier: BSD-2-Clause
//
// The parts of a trace file that have a fixed size: docs/trace-file.md is the whole of the format.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "daemon/base/result.h"

namespace tracectl::recording {

// A byte that is no text, and line ends that careless copying changes.
inline constexpr std::string_view kFileMagic{"\x89TCT\r\n\x1a\n", 8};
inline constexpr uint16_t kVersion = 1;
inline constexpr size_t kFileHeaderBytes = 64;
inline constexpr size_t kBlockHeaderBytes = 64;
// A block is ended when its records have so many bytes, and no reader takes one much larger.
inline constexpr size_t kBlockBytes = 64 << 10;
inline constexpr size_t kMostBlockBytes = 1 << 20;

struct FileHeader {
  uint16_t version = kVersion;
  uint64_t id = 0;                 // random: what says so is a block of this file
  int64_t wall_minus_boot_ns = 0;  // CLOCK_REALTIME - CLOCK_BOOTTIME when it was begun
  bool tells_end = false;          // its writer ends it with a block of kind `end`
};

std::string encode(const FileHeader& header);
// Of the first bytes of a file. Refuses what is no trace file, and versions that are newer.
Result<FileHeader> decode_file_header(std::string_view bytes);

enum class BlockKind : uint8_t {
  definitions = 1,  // of numbers that later blocks use
  events = 2,       // of one CPU
  end = 3,          // the last one of the file
};
enum class Compression : uint8_t { none = 0, zstd = 1 };

// Written after the bytes it counts: whoever finds it finds them.
struct BlockHeader {
  static constexpr uint16_t kNoCpu = 0xffff;

  BlockKind kind = BlockKind::events;
  Compression compression = Compression::none;
  uint16_t cpu = kNoCpu;
  uint32_t stored_bytes = 0;  // that follow the header
  uint32_t plain_bytes = 0;   // of its records
  uint32_t records = 0;
  uint64_t first_ns = 0, last_ns = 0;  // CLOCK_BOOTTIME, of its records; 0 of definitions
  uint64_t file_id = 0;
  uint64_t checksum = 0;  // of the bytes that follow
};

std::string encode(const BlockHeader& header);
// Nothing where these bytes are no header of a block of this file. It may be of a kind or a
// compression that is not known: its size stands all the same.
std::optional<BlockHeader> decode_block_header(std::string_view bytes, uint64_t file_id);
// What such a header begins with.
std::string_view block_magic();

uint64_t checksum_of(std::string_view bytes);

// What the last block of a file says.
struct Ending {
  bool is_all_told = false;  // what is missing is in the file as lost; else the end is unknown
  std::string why = {};      // the recording ended before it was asked to; else empty
};

std::string encode(const Ending& ending);
std::optional<Ending> decode_ending(std::string_view records);

// The kinds of records. Their first varint holds it: in blocks of events together with what the
// record has.
enum class DefinitionKind : uint8_t {
  text = 1,
  source = 2,
  thread = 3,
  frame = 4,
  stack = 5,
  reason = 6,  // why the file was written
};

enum class RecordKind : uint8_t { hit = 0, returned = 1, unwound = 2, latency = 3, lost = 4 };
enum RecordBit : uint64_t {
  kRecordKinds = 7,  // the bits of enum RecordKind
  // What stands in the record; without it, what the block's last record had.
  kHasThread = 1 << 3,
  kHasSource = 1 << 4,
  kHasCall = 1 << 5,
  kHasDuration = 1 << 6,
  // Those that are rare: the first varint then takes two bytes.
  kHasEpoch = 1 << 7,
  kHasStack = 1 << 8,
  kHasTag = 1 << 9,
  kHasMissing = 1 << 10,  // arguments that could not be read
  kHasResult = 1 << 11,
  kHasCount = 1 << 12,  // of arguments: another than its source has
};

inline constexpr size_t kMostArguments = 64;
inline constexpr size_t kMostStackFrames = 4096;  // those inlined among them
inline constexpr size_t kMostReasonBytes = 4096;
inline constexpr size_t kMostWhyBytes = 64;         // why a recording ended early
inline constexpr size_t kMostTextBytes = 64 << 10;  // of a definition: what is behind is cut off

}  // namespace tracectl::recording
