// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/recording/blocks.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace tracectl::recording {
namespace {

constexpr size_t kSearchBytes = 1 << 20;
constexpr uint64_t kStretchBytes = 1 << 20;

}  // namespace

Result<std::string> bytes_at(int file, uint64_t offset, size_t size) {
  std::string bytes(size, '\0');
  size_t have = 0;
  while (have < size) {
    const ssize_t count =
        ::pread(file, bytes.data() + have, size - have, static_cast<off_t>(offset + have));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return Error::from_errno("read the file");
    if (count == 0) break;
    have += static_cast<size_t>(count);
  }
  bytes.resize(have);
  return bytes;
}

// ---- single blocks ----

Result<std::optional<Place>> block_at(int file, uint64_t file_id, uint64_t offset) {
  auto bytes = bytes_at(file, offset, kBlockHeaderBytes);
  if (!bytes) return bytes.error();
  const auto header = decode_block_header(*bytes, file_id);
  if (!header) return std::optional<Place>{};
  return std::optional(Place{offset + kBlockHeaderBytes, *header});
}

Result<std::optional<Place>> BlockScan::next() {
  while (at_ < end_) {
    auto found = block_at(file_, file_id_, at_);
    if (!found) return found;
    if (*found && (*found)->end() <= end_) {
      bytes_between_ += at_ - end_of_last_;
      at_ = end_of_last_ = (*found)->end();
      return found;
    }
    if (auto searched = search(); !searched) return searched.error();
  }
  return std::optional<Place>{};
}

// The position of the next block header of this file in these bytes, or npos.
size_t BlockScan::header_in(std::string_view bytes) const {
  for (size_t at = bytes.find(block_magic()); at != std::string::npos;
       at = bytes.find(block_magic(), at + 1))
    if (decode_block_header(bytes.substr(at), file_id_)) return at;
  return std::string::npos;
}

// Moves to the next place where a block begins, or to the end.
Status BlockScan::search() {
  for (uint64_t from = at_ + 1; from < end_;) {
    auto bytes = bytes_at(file_, from, std::min<uint64_t>(kSearchBytes, end_ - from));
    if (!bytes) return bytes.error();
    if (const size_t found = header_in(*bytes); found != std::string::npos) {
      at_ = from + found;
      return ok();
    }
    if (bytes->size() < kSearchBytes) break;
    from += kSearchBytes - (kBlockHeaderBytes - 1);  // a header may begin in the last bytes
  }
  at_ = end_;
  return ok();
}

// ---- the index ----

void BlockIndex::add(const Place& events) {
  const BlockHeader& header = events.header;
  if (stretches_.empty() || events.begin() - stretches_.back().begin >= kStretchBytes)
    stretches_.push_back({events.begin(), 0, header.first_ns, header.last_ns, 0, 0});
  Stretch& last = stretches_.back();
  last.end = events.end();
  last.first_ns = std::min(last.first_ns, header.first_ns);
  last.last_ns = std::max(last.last_ns, header.last_ns);
  ++last.blocks;
  last.records += header.records;
}

uint64_t BlockIndex::first_ns() const {
  const auto earlier = [](const Stretch& a, const Stretch& b) { return a.first_ns < b.first_ns; };
  const auto first = std::min_element(stretches_.begin(), stretches_.end(), earlier);
  return first == stretches_.end() ? 0 : first->first_ns;
}

uint64_t BlockIndex::last_ns() const {
  uint64_t last = 0;
  for (const Stretch& stretch : stretches_) last = std::max(last, stretch.last_ns);
  return last;
}

}  // namespace tracectl::recording
