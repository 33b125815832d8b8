// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/recording/reader.h"

#include <sys/stat.h>

#include <algorithm>
#include <compare>
#include <functional>
#include <memory>
#include <queue>
#include <tuple>
#include <utility>
#include <vector>

#include "daemon/recording/compression.h"

namespace tracectl::recording {
namespace {

constexpr size_t kMostOpenBytes = 256 << 20;  // of blocks open at one time
constexpr size_t kMostOpen = 1 << 16;         // blocks open at one time
constexpr size_t kMostWaiting = 4 << 20;      // blocks found and not yet read

bool is_known(const BlockHeader& header) {
  return (header.kind == BlockKind::definitions || header.kind == BlockKind::events ||
          header.kind == BlockKind::end) &&
         (header.compression == Compression::none || header.compression == Compression::zstd);
}

bool is_of_events(const BlockHeader& header) {
  return is_known(header) && header.kind == BlockKind::events;
}

// Larger sizes are never written, and a reader would need memory for them.
bool has_sane_size(const BlockHeader& header) {
  return header.stored_bytes <= kMostBlockBytes && header.plain_bytes <= kMostBlockBytes;
}

uint64_t ts_of(const StreamItem& item) {
  return std::visit([](const auto& part) { return part.ts_ns; }, item);
}

// For a block or a stretch.
template <class Part> bool is_in(const Part& part, const TimeRange& range) {
  return part.last_ns >= range.from_ns && part.first_ns < range.to_ns;
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
  auto begin = bytes_at(reader.file_.get(), 0, kFileHeaderBytes);
  if (!begin) return begin.error();
  auto header = decode_file_header(*begin);
  if (!header) return header.error();
  reader.header_ = *header;
  if (auto found = reader.find_blocks(); !found) return found.error();
  return reader;
}

Status Reader::find_blocks() {
  BlockScan scan(file_.get(), header_.id, std::min<uint64_t>(kFileHeaderBytes, size_), size_);
  for (;;) {
    auto place = scan.next();
    if (!place) return place.error();
    if (!*place) break;
    if (auto added = add(**place); !added) return added;
  }
  damage_.bytes = scan.bytes_between();
  damage_.unfinished_bytes = scan.bytes_behind();
  damage_.cut = tables_.cut();
  if (tables_.is_full()) damage_.no_room_bytes = DefinitionTables::kMostBytes;
  return ok();
}

Status Reader::add(const Place& place) {
  ++blocks_;
  ending_.reset();
  if (!is_known(place.header)) {
    ++damage_.unknown;
  } else if (place.header.kind == BlockKind::end) {
    return end(place);
  } else if (place.header.kind == BlockKind::definitions) {
    return define(place);
  } else {
    events_.add(place);
  }
  return ok();
}

Status Reader::define(const Place& place) {
  auto records = records_of(place);
  if (!records) return records.error();
  if (*records && !tables_.add(**records)) ++damage_.blocks;
  return ok();
}

Status Reader::end(const Place& place) {
  auto records = records_of(place);
  if (!records) return records.error();
  if (*records && !(ending_ = decode_ending(**records))) ++damage_.blocks;
  return ok();
}

Result<std::optional<std::string>> Reader::records_of(const Place& place) {
  const auto damaged = [&] {
    ++damage_.blocks;
    if (place.header.kind == BlockKind::events) damage_.records += place.header.records;
    return std::optional<std::string>{};
  };
  if (!has_sane_size(place.header)) return damaged();
  auto stored = bytes_at(file_.get(), place.offset, place.header.stored_bytes);
  if (!stored) return stored.error();
  if (stored->size() != place.header.stored_bytes || checksum_of(*stored) != place.header.checksum)
    return damaged();
  if (place.header.compression == Compression::none) return std::optional(std::move(*stored));
  auto plain = decompressed(*stored, place.header.plain_bytes);
  if (!plain) return damaged();
  return plain;
}

// ---- reading events ----

// A block that is being decoded.
class Reader::OpenBlock {
 public:
  OpenBlock(Reader& reader, const TimeRange& range, const Place& place, std::string records)
      : damage_(reader.damage_),
        range_(range),
        place_(place),
        records_(std::move(records)),
        decoder_(place_.header, records_, reader.tables_) {}

  // Moves to the next item in the range; the first call to the first. False if there is none.
  bool advance() {
    EventDecoder::Next next;
    while ((next = decoder_.next(item_)) == EventDecoder::Next::item) {
      ++read_;
      if (ts_ns() >= range_.from_ns && ts_ns() < range_.to_ns) return true;
    }
    count_damage(next);
    return false;
  }
  const StreamItem& item() const { return item_; }
  uint64_t ts_ns() const { return ts_of(item_); }
  size_t bytes() const { return records_.size(); }
  // Items of the same time have a fixed order, which does not depend on the rest of the file.
  bool is_later_than(const OpenBlock& other) const { return order() > other.order(); }

 private:
  std::tuple<uint64_t, uint16_t, uint64_t> order() const {
    return {ts_ns(), place_.header.cpu, place_.offset};
  }
  void count_damage(EventDecoder::Next end) {
    damage_.unknown += decoder_.skipped();
    if (end != EventDecoder::Next::malformed) return;
    ++damage_.blocks;
    const uint64_t seen = read_ + decoder_.skipped();
    damage_.records += std::max<uint64_t>(place_.header.records, seen) - seen;
  }

  Damage& damage_;
  const TimeRange range_;
  const Place place_;
  const std::string records_;
  EventDecoder decoder_;
  StreamItem item_;
  uint64_t read_ = 0;
};

// Blocks of one CPU follow one another in time, except for late events. So a block is opened when
// its first event is due, and a stretch is scanned when its first event is due.
class Reader::Merge {
 public:
  Merge(Reader& reader, const TimeRange& range) : reader_(reader), range_(range) {
    for (const Stretch& stretch : reader.events_.stretches())
      if (is_in(stretch, range)) stretches_.push_back(&stretch);
    std::sort(stretches_.begin(), stretches_.end(), [](const Stretch* a, const Stretch* b) {
      return std::tie(a->first_ns, a->begin) > std::tie(b->first_ns, b->begin);
    });
  }

  Status run(const Take& take) {
    for (;;) {
      if (auto opened = open_due(); !opened) return opened;
      if (open_.empty() || !take(open_.front()->item())) return ok();
      std::pop_heap(open_.begin(), open_.end(), is_later);
      advance_last();
    }
  }

 private:
  static constexpr uint64_t kNever = UINT64_MAX;  // not in any range

  struct Waiting {
    uint64_t first_ns;
    uint64_t begin;
    auto operator<=>(const Waiting&) const = default;
  };

  static bool is_later(const std::unique_ptr<OpenBlock>& a, const std::unique_ptr<OpenBlock>& b) {
    return a->is_later_than(*b);
  }

  uint64_t stretch_due_ns() const {
    return stretches_.empty() ? kNever : stretches_.back()->first_ns;
  }
  uint64_t block_due_ns() const { return waiting_.empty() ? kNever : waiting_.top().first_ns; }

  // Opens all that may have an item before the first open one, or at its time.
  Status open_due() {
    for (;;) {
      const uint64_t due_ns = std::min(stretch_due_ns(), block_due_ns());
      if (due_ns == kNever || (!open_.empty() && due_ns > open_.front()->ts_ns())) return ok();
      auto done = stretch_due_ns() == due_ns ? look_through_stretch() : open_block();
      if (!done) return done;
    }
  }

  Status look_through_stretch() {
    const Stretch& stretch = *stretches_.back();
    stretches_.pop_back();
    BlockScan scan(reader_.file_.get(), reader_.header_.id, stretch.begin, stretch.end);
    uint64_t blocks = 0, records = 0;
    for (;;) {
      auto place = scan.next();
      if (!place) return place.error();
      if (!*place) break;
      const BlockHeader& header = (*place)->header;
      if (!is_of_events(header)) continue;
      ++blocks;
      records += header.records;
      if (is_in(header, range_)) waiting_.push({header.first_ns, (*place)->begin()});
    }
    count_gone(stretch.blocks - std::min(blocks, stretch.blocks),
               stretch.records - std::min(records, stretch.records));
    if (waiting_.size() <= kMostWaiting) return ok();
    return Error{Code::exhausted,
                 "the file has so many blocks of the same time that no memory is enough"};
  }

  // Blocks that disappeared since the file was opened.
  void count_gone(uint64_t blocks, uint64_t records) {
    reader_.damage_.blocks += blocks;
    reader_.damage_.records += records;
  }

  Status open_block() {
    const uint64_t begin = waiting_.top().begin;
    waiting_.pop();
    auto place = block_at(reader_.file_.get(), reader_.header_.id, begin);
    if (!place) return place.error();
    if (!*place) return count_gone(1, 0), ok();
    auto records = reader_.records_of(**place);
    if (!records) return records.error();
    if (!*records) return ok();
    open_bytes_ += (*records)->size();
    if (open_bytes_ > kMostOpenBytes || open_.size() == kMostOpen)
      return Error{Code::exhausted,
                   "the file has blocks of so many CPUs, or of the same time, that no memory is "
                   "enough"};
    open_.push_back(std::make_unique<OpenBlock>(reader_, range_, **place, std::move(**records)));
    advance_last();
    return ok();
  }

  // Pushes the last block, which is not in the heap yet, unless it has no more items.
  void advance_last() {
    if (open_.back()->advance()) return std::push_heap(open_.begin(), open_.end(), is_later);
    open_bytes_ -= open_.back()->bytes();
    open_.pop_back();
  }

  Reader& reader_;
  const TimeRange range_;
  std::vector<const Stretch*> stretches_;  // in descending order of time
  std::priority_queue<Waiting, std::vector<Waiting>, std::greater<>> waiting_;
  std::vector<std::unique_ptr<OpenBlock>> open_;  // a heap
  size_t open_bytes_ = 0;                         // of their records
};

Status Reader::read(const TimeRange& range, const Take& take) {
  bool goes_on = true;
  auto done = Merge(*this, range).run([&](const StreamItem& item) { return goes_on = take(item); });
  if (done && goes_on && !is_end_known() && last_ns() < range.to_ns)
    take(Lost{last_ns(), 0, LossCause::unknown_end, {}});
  return done;
}

}  // namespace tracectl::recording
