// SPDX-License-Identifier: BSD-2-Clause
//
// Rings that a test fills as the kernel would, and a reader of them.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "daemon/object/own_stacks.h"
#include "daemon/protocol/events.h"
#include "daemon/stream/reader.h"
#include "tests/support/must.h"

namespace tracectl::made {

using on_kernel::must;

inline constexpr uint32_t kSession = 1;
inline constexpr unsigned kCpus = 2;
inline constexpr uint32_t kNumbers = 1, kTexts = 2;  // sources
inline constexpr size_t kRingBytes = 1 << 20;

// The part of a BPF ring buffer's file that its reader sees (kernel/ring.h).
class MadeRing {
 public:
  MadeRing() : file_(::memfd_create("ring", MFD_CLOEXEC)) {
    EXPECT_EQ(::ftruncate(file_.get(), static_cast<off_t>(2 * page() + 2 * kRingBytes)), 0);
  }
  Fd file() const { return Fd{::fcntl(file_.get(), F_DUPFD_CLOEXEC, 0)}; }

  // Not visible before publish().
  void add(std::span<const std::byte> record) { submit(take_room(record.size()), record); }
  void publish() { write(page(), end_); }

  // Returns the place for a record. It is visible at once, as one that is still being written.
  uint64_t reserve(size_t size) {
    const uint64_t at = take_room(size);
    publish();
    return at;
  }
  void submit(uint64_t at, std::span<const std::byte> record) {
    put(data_at(at) + 8, record);
    write(data_at(at), static_cast<uint32_t>(record.size()));
  }

 private:
  static constexpr uint32_t kBusy = 1u << 31;

  static size_t page() { return static_cast<size_t>(::sysconf(_SC_PAGESIZE)); }
  static uint64_t data_at(uint64_t at) { return 2 * page() + at; }
  uint64_t take_room(size_t size) {
    const uint64_t at = end_;
    write(data_at(at), kBusy | static_cast<uint32_t>(size));
    end_ += (8 + size + 7) / 8 * 8;
    EXPECT_LE(end_, kRingBytes);
    return at;
  }
  template <class T> void write(uint64_t offset, T value) {
    put(offset, std::as_bytes(std::span(&value, 1)));
  }
  void put(uint64_t offset, std::span<const std::byte> bytes) {
    EXPECT_EQ(::pwrite(file_.get(), bytes.data(), bytes.size(), static_cast<off_t>(offset)),
              static_cast<ssize_t>(bytes.size()));
  }

  Fd file_;
  uint64_t end_ = 0;
};

class Record {
 public:
  Record(uint64_t ts_ns, uint32_t source, std::vector<uint64_t> words)
      : bytes_(sizeof(tc_record) + words.size() * 8) {
    std::memcpy(bytes_.data() + sizeof(tc_record), words.data(), words.size() * 8);
    head().kind = TC_RECORD_HIT;
    head().ts_ns = ts_ns;
    head().epoch = 1;
    head().source = source;
    head().pid = head().tid = 7;
    head().arg_room = static_cast<uint8_t>(words.size());
    head().arg_count = source == kNumbers ? 2 : 1;
    head().arg_valid = 3;
    std::memcpy(head().comm, "main", 4);
  }
  tc_record& head() { return *reinterpret_cast<tc_record*>(bytes_.data()); }
  std::span<const std::byte> bytes() const { return bytes_; }
  uint64_t ts_ns() const { return reinterpret_cast<const tc_record*>(bytes_.data())->ts_ns; }

 private:
  std::vector<std::byte> bytes_;
};

inline Record plain(uint64_t ts_ns) { return Record(ts_ns, kNumbers, {ts_ns, 2}); }

// Everything that users see of an item.
inline std::string line(const StreamItem& item) {
  protocol::WallClock wall(0);
  if (const auto* event = std::get_if<Event>(&item)) return protocol::event_json(*event, wall);
  return protocol::lost_json(std::get<Lost>(item), "s");
}

using CpuRecords = std::vector<std::pair<unsigned, Record>>;

// A session whose rings a test fills.
class Reading {
 public:
  explicit Reading(Subscriber sink) : reader_(must(EventReader::start(in_kernel_, symbols_))) {
    SessionRings files{{}, kRingBytes};
    for (const MadeRing& ring : rings) files.by_cpu.push_back(ring.file());
    must(reader_->open(kSession, std::move(files)));
    Argument number, text;
    text.is_string = true;
    add_source(kNumbers, {number, number});
    add_source(kTexts, {text});
    reader_->add_tag(kSession, 1, "blue");
    reader_->subscribe(kSession, std::move(sink));
  }
  EventReader& reader() { return *reader_; }
  // Publishes all of a ring at once.
  void add(const CpuRecords& records) {
    for (const auto& [cpu, record] : records) rings[cpu].add(record.bytes());
    for (MadeRing& ring : rings) ring.publish();
  }
  void flush() { must(reader_->flush(kSession)); }
  void lose(unsigned cpu, uint64_t count) {
    __atomic_fetch_add(&losses_.at(kSession * kCpus + cpu).dropped, count, __ATOMIC_RELEASE);
  }

  MadeRing rings[kCpus];

 private:
  void add_source(uint32_t id, Arguments arguments) {
    reader_->add_source(kSession, id,
                        std::make_shared<const EventSource>(
                            EventSource{"p" + std::to_string(id), "s", std::move(arguments)}));
  }

  // The memory that programs would share.
  std::vector<tc_ring_loss> losses_ = std::vector<tc_ring_loss>(TC_MAX_SESSIONS * kCpus);
  std::vector<tc_own_tag> own_tags_ = std::vector<tc_own_tag>(TC_OWN_TAGS);
  __u32 reader_sleeps_ = 0;
  Rings in_kernel_{
      -1, kCpus, {.losses = losses_, .own_tags = own_tags_, .reader_sleeps = reader_sleeps_}};
  Symbolizer symbols_{std::make_unique<OwnStacks>()};
  std::unique_ptr<EventReader> reader_;
};

// Includes all kinds of records that are not handled like a plain hit.
inline Record random_record(std::mt19937_64& random, uint64_t ts_ns) {
  Record record =
      random() % 3 ? plain(ts_ns) : Record(ts_ns, kTexts, std::vector<uint64_t>(8, 'x'));
  const auto one_in = [&](uint64_t n) { return random() % n == 0; };
  if (one_in(5)) record.head().tag = 1;
  if (one_in(5)) record.head().arg_valid = 1;
  if (one_in(5)) record.head().tid = 8;
  if (one_in(9)) record.head().source = 99;  // unknown
  if (one_in(9)) record.head().epoch = 2;
  if (one_in(9)) record.head().kind = 77;
  if (one_in(9)) record.head().arg_count = 1;
  return record;
}

// 500 of them, in order of time, on random CPUs. Those for which `may_report` holds report losses now and then.
template <class MayReport>
CpuRecords random_records(std::mt19937_64& random, MayReport&& may_report) {
  CpuRecords records;
  uint64_t dropped[kCpus] = {};
  for (uint64_t ts_ns = 1000; ts_ns < 1500; ++ts_ns) {
    const unsigned cpu = random() % kCpus;
    Record record = random_record(random, ts_ns);
    if (may_report(record) && random() % 20 == 0) dropped[cpu] += random() % 9;
    record.head().ring_dropped = dropped[cpu];
    records.emplace_back(cpu, std::move(record));
  }
  return records;
}

}  // namespace tracectl::made
