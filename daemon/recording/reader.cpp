// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/recording/reader.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <tuple>
#include <utility>

#include "daemon/recording/compression.h"

namespace tracectl::recording {
namespace {

constexpr size_t kSearchBytes = 1 << 20;
constexpr size_t kMostOpenBytes = 256 << 20;  // of blocks that are read at one time
constexpr size_t kMostLanes = 1 << 16;

bool is_known(const BlockHeader& header) {
  return (header.kind == BlockKind::definitions || header.kind == BlockKind::events) &&
         (header.compression == Compression::none || header.compression == Compression::zstd);
}

// What a writer of this format never exceeds, and a reader would have to have memory for.
bool has_sane_size(const BlockHeader& header) {
  return header.stored_bytes <= kMostBlockBytes && header.plain_bytes <= kMostBlockBytes;
}

uint64_t ts_of(const StreamItem& item) {
  return std::visit([](const auto& part) { return part.ts_ns; }, item);
}

}  // namespace

// ---- finding blocks ----

Result<Reader> Reader::open(Fd file) {
  Reader reader(std::move(file));
  struct stat about {};
  if (::fstat(reader.file_.get(), &about) != 0) return Error::from_errno("look at the file");
  if (!S_ISREG(about.st_mode))
    return Error{Code::invalid, "it is no regular file: a trace file is read in any order"};
  reader.size_ = static_cast<uint64_t>(about.st_size);
  auto begin = reader.bytes_at(0, kFileHeaderBytes);
  if (!begin) return begin.error();
  auto header = decode_file_header(*begin);
  if (!header) return header.error();
  reader.header_ = *header;
  if (auto found = reader.find_blocks(); !found) return found.error();
  if (auto defined = reader.define(); !defined) return defined.error();
  return reader;
}

// As many as there are, up to `size`.
Result<std::string> Reader::bytes_at(uint64_t offset, size_t size) const {
  std::string bytes(size, '\0');
  size_t have = 0;
  while (have < size) {
    const ssize_t count =
        ::pread(file_.get(), bytes.data() + have, size - have, static_cast<off_t>(offset + have));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return Error::from_errno("read the file");
    if (count == 0) break;
    have += static_cast<size_t>(count);
  }
  bytes.resize(have);
  return bytes;
}

// From block to block by their sizes; where none stands, by a search for the next.
Status Reader::find_blocks() {
  uint64_t offset = kFileHeaderBytes;
  uint64_t end = offset;  // of the last that was found
  while (offset < size_) {
    auto bytes = bytes_at(offset, kBlockHeaderBytes);
    if (!bytes) return bytes.error();
    const auto header = decode_block_header(*bytes, header_.id);
    if (!header || offset + kBlockHeaderBytes + header->stored_bytes > size_) {
      if (auto found = find_next(offset); !found) return found;
      continue;
    }
    damage_.bytes += offset - end;
    add(Place{offset + kBlockHeaderBytes, *header});
    offset += kBlockHeaderBytes + header->stored_bytes;
    end = offset;
  }
  damage_.unfinished_bytes = size_ - end;
  return ok();
}

// The next header of a block of this file in these bytes; else npos.
size_t Reader::header_in(std::string_view bytes) const {
  for (size_t at = bytes.find(block_magic()); at != std::string::npos;
       at = bytes.find(block_magic(), at + 1))
    if (decode_block_header(bytes.substr(at), header_.id)) return at;
  return std::string::npos;
}

// The next place behind `offset` where a block begins; else the end.
Status Reader::find_next(uint64_t& offset) {
  for (uint64_t from = offset + 1; from < size_;) {
    auto bytes = bytes_at(from, kSearchBytes);
    if (!bytes) return bytes.error();
    if (const size_t at = header_in(*bytes); at != std::string::npos) {
      offset = from + at;
      return ok();
    }
    if (bytes->size() < kSearchBytes) break;
    from += kSearchBytes - (kBlockHeaderBytes - 1);  // it could begin in what was read last
  }
  offset = size_;
  return ok();
}

void Reader::add(const Place& place) {
  ++blocks_;
  if (!is_known(place.header)) {
    ++damage_.unknown;
  } else if (place.header.kind == BlockKind::definitions) {
    definitions_.push_back(place);
  } else {
    events_[place.header.cpu].push_back(place);
  }
}

Status Reader::define() {
  for (const Place& place : definitions_) {
    auto records = records_of(place);
    if (!records) return records.error();
    if (*records && !tables_.add(**records)) ++damage_.blocks;
  }
  damage_.cut = tables_.cut();
  if (tables_.is_full()) damage_.no_room_bytes = DefinitionTables::kMostBytes;
  return ok();
}

Result<std::optional<std::string>> Reader::records_of(const Place& place) {
  const auto damaged = [&] {
    ++damage_.blocks;
    if (place.header.kind == BlockKind::events) damage_.records += place.header.records;
    return std::optional<std::string>{};
  };
  if (!has_sane_size(place.header)) return damaged();
  auto stored = bytes_at(place.offset, place.header.stored_bytes);
  if (!stored) return stored.error();
  if (stored->size() != place.header.stored_bytes || checksum_of(*stored) != place.header.checksum)
    return damaged();
  if (place.header.compression == Compression::none) return std::optional(std::move(*stored));
  auto plain = decompressed(*stored, place.header.plain_bytes);
  if (!plain) return damaged();
  return plain;
}

// ---- reading events ----

// Each behind the lane that ends last before it. Most often there is one lane.
std::vector<Reader::Lane> Reader::lanes_of(const std::vector<Place>& places) {
  std::vector<Lane> lanes;
  std::multimap<uint64_t, size_t> ends;  // of lanes
  for (const Place& place : places) {
    auto behind = ends.upper_bound(place.header.first_ns);
    size_t lane = lanes.size();
    if (behind == ends.begin())
      lanes.emplace_back();
    else
      lane = ends.extract(std::prev(behind)).mapped();
    lanes[lane].push_back(&place);
    ends.emplace(place.header.last_ns, lane);
  }
  return lanes;
}

// Of one lane, block after block.
class Reader::Cursor {
 public:
  Cursor(Reader& reader, Lane lane, const TimeRange& range)
      : reader_(reader), lane_(std::move(lane)), range_(range) {}

  // To the next item in the range; false where there is none.
  Result<bool> advance() {
    for (;;) {
      if (!decoder_) {
        auto opened = open_next();
        if (!opened || !*opened) return opened;
      }
      if (take_next()) return true;
    }
  }
  const StreamItem& item() const { return item_; }
  // In the order of the file.
  std::tuple<uint64_t, uint16_t, uint64_t> place() const {
    return {ts_of(item_), current_->header.cpu, current_->offset};
  }

 private:
  uint64_t ts_ns() const { return ts_of(item_); }
  bool is_wanted(const BlockHeader& header) const {
    return header.last_ns >= range_.from_ns && header.first_ns < range_.to_ns;
  }

  Result<bool> open_next() {
    while (next_ < lane_.size()) {
      const Place& place = *lane_[next_++];
      if (!is_wanted(place.header)) continue;
      auto records = reader_.records_of(place);
      if (!records) return records.error();
      if (!*records) continue;
      reader_.open_bytes_ -= records_.size();
      records_ = std::move(**records);
      reader_.open_bytes_ += records_.size();
      if (reader_.open_bytes_ > kMostOpenBytes)
        return Error{Code::exhausted,
                     "the file has blocks of so many CPUs that no memory is enough"};
      read_ = 0;
      current_ = &place;
      decoder_.emplace(place.header, records_, reader_.tables_);
      return true;
    }
    return false;
  }

  // Of the block that is open; closes it at its end.
  bool take_next() {
    EventDecoder::Next next;
    while ((next = decoder_->next(item_)) == EventDecoder::Next::item) {
      ++read_;
      if (ts_ns() >= range_.from_ns && ts_ns() < range_.to_ns) return true;
    }
    reader_.damage_.unknown += decoder_->skipped();
    if (next == EventDecoder::Next::malformed) {
      ++reader_.damage_.blocks;
      const uint64_t seen = read_ + decoder_->skipped();
      reader_.damage_.records += std::max<uint64_t>(current_->header.records, seen) - seen;
    }
    decoder_.reset();
    return false;
  }

  Reader& reader_;
  const Lane lane_;
  const TimeRange range_;
  size_t next_ = 0;
  const Place* current_ = nullptr;
  std::string records_;
  uint64_t read_ = 0;
  std::optional<EventDecoder> decoder_;
  StreamItem item_;
};

uint64_t Reader::first_ns() const {
  uint64_t first = UINT64_MAX;
  for (const auto& [cpu, places] : events_)
    for (const Place& place : places) first = std::min(first, place.header.first_ns);
  return first == UINT64_MAX ? 0 : first;
}

uint64_t Reader::last_ns() const {
  uint64_t last = 0;
  for (const auto& [cpu, places] : events_)
    for (const Place& place : places) last = std::max(last, place.header.last_ns);
  return last;
}

Status Reader::read(const TimeRange& range, const Take& take) {
  std::vector<std::unique_ptr<Cursor>> open;
  open_bytes_ = 0;
  for (const auto& [cpu, places] : events_)
    for (Lane& lane : lanes_of(places)) {
      if (open.size() == kMostLanes)
        return Error{Code::exhausted, "too many of the file's blocks are of the same time"};
      auto cursor = std::make_unique<Cursor>(*this, std::move(lane), range);
      auto has_item = cursor->advance();
      if (!has_item) return has_item.error();
      if (*has_item) open.push_back(std::move(cursor));
    }
  // Of the same time, always in the same order, whatever else is in the file.
  const auto is_later = [](const auto& a, const auto& b) { return a->place() > b->place(); };
  std::make_heap(open.begin(), open.end(), is_later);
  while (!open.empty()) {
    std::pop_heap(open.begin(), open.end(), is_later);
    if (!take(open.back()->item())) return ok();
    auto has_item = open.back()->advance();
    if (!has_item) return has_item.error();
    if (*has_item)
      std::push_heap(open.begin(), open.end(), is_later);
    else
      open.pop_back();
  }
  return ok();
}

}  // namespace tracectl::recording
