// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/recording/format.h"

#include <xxhash.h>

#include "daemon/base/bytes.h"

namespace tracectl::recording {
namespace {

constexpr std::string_view kBlockMagic{"TCTB", 4};
constexpr uint32_t kHasEndBlock = 1;  // a flag in the file's header

// The last eight bytes of a header are its checksum.
std::string completed(std::string header, size_t size) {
  header.resize(size - sizeof(uint64_t), '\0');
  ByteWriter(header).fixed(checksum_of(header));
  return header;
}

bool is_whole(std::string_view header, size_t size) {
  ByteReader sum(header.substr(size - sizeof(uint64_t), sizeof(uint64_t)));
  return sum.fixed<uint64_t>() == checksum_of(header.substr(0, size - sizeof(uint64_t)));
}

Error unreadable(std::string message) { return {Code::invalid, std::move(message)}; }

}  // namespace

uint64_t checksum_of(std::string_view bytes) { return ::XXH3_64bits(bytes.data(), bytes.size()); }

std::string_view block_magic() { return kBlockMagic; }

std::string encode(const FileHeader& header) {
  std::string out{kFileMagic};
  ByteWriter to(out);
  to.fixed(header.version);
  to.fixed(static_cast<uint16_t>(kFileHeaderBytes));
  to.fixed(header.has_end_block ? kHasEndBlock : 0);
  to.fixed(header.id);
  to.fixed(static_cast<uint64_t>(header.wall_minus_boot_ns));
  return completed(std::move(out), kFileHeaderBytes);
}

Result<FileHeader> decode_file_header(std::string_view bytes) {
  if (!bytes.starts_with(kFileMagic))
    return unreadable("it is no trace file: those are written by tracectl record");
  ByteReader from(bytes.substr(kFileMagic.size()));
  FileHeader header;
  header.version = from.fixed<uint16_t>();
  from.fixed<uint16_t>();
  header.has_end_block = from.fixed<uint32_t>() & kHasEndBlock;
  if (!from.failed() && header.version > kVersion)
    return unreadable("it is of version " + std::to_string(header.version) +
                      " of the format, and this program knows " + std::to_string(kVersion) +
                      " and older ones: read it with a newer tracectl");
  if (bytes.size() < kFileHeaderBytes || header.version == 0 || !is_whole(bytes, kFileHeaderBytes))
    return unreadable("the header of this trace file is damaged");
  header.id = from.fixed<uint64_t>();
  header.wall_minus_boot_ns = static_cast<int64_t>(from.fixed<uint64_t>());
  return header;
}

std::string encode(const BlockHeader& header) {
  std::string out{kBlockMagic};
  ByteWriter to(out);
  to.fixed(static_cast<uint8_t>(header.kind));
  to.fixed(static_cast<uint8_t>(header.compression));
  to.fixed(header.cpu);
  to.fixed(header.stored_bytes);
  to.fixed(header.plain_bytes);
  to.fixed(header.records);
  to.fixed(uint32_t{0});
  to.fixed(header.first_ns);
  to.fixed(header.last_ns);
  to.fixed(header.file_id);
  to.fixed(header.checksum);
  return completed(std::move(out), kBlockHeaderBytes);
}

std::optional<BlockHeader> decode_block_header(std::string_view bytes, uint64_t file_id) {
  if (bytes.size() < kBlockHeaderBytes || !bytes.starts_with(kBlockMagic)) return std::nullopt;
  if (!is_whole(bytes, kBlockHeaderBytes)) return std::nullopt;
  ByteReader from(bytes.substr(kBlockMagic.size()));
  BlockHeader header;
  header.kind = static_cast<BlockKind>(from.fixed<uint8_t>());
  header.compression = static_cast<Compression>(from.fixed<uint8_t>());
  header.cpu = from.fixed<uint16_t>();
  header.stored_bytes = from.fixed<uint32_t>();
  header.plain_bytes = from.fixed<uint32_t>();
  header.records = from.fixed<uint32_t>();
  from.fixed<uint32_t>();
  header.first_ns = from.fixed<uint64_t>();
  header.last_ns = from.fixed<uint64_t>();
  header.file_id = from.fixed<uint64_t>();
  header.checksum = from.fixed<uint64_t>();
  if (header.file_id != file_id) return std::nullopt;
  return header;
}

std::string encode(const Ending& ending) {
  std::string body, record;
  ByteWriter(body).varint(ending.has_all_losses);
  ByteWriter(body).text(std::string_view(ending.why).substr(0, kMostWhyBytes));
  ByteWriter(record).text(body);
  return record;
}

std::optional<Ending> decode_ending(std::string_view records) {
  ByteReader from(records);
  ByteReader body(from.text());
  Ending ending;
  ending.has_all_losses = body.varint() == 1;
  ending.why = body.text().substr(0, kMostWhyBytes);
  if (from.failed() || body.failed()) return std::nullopt;
  return ending;
}

}  // namespace tracectl::recording
