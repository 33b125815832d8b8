// SPDX-License-Identifier: BSD-2-Clause
//
// Records that have waited in the kernel for the end of a call: well-formed ones, and refused ones.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstring>
#include <utility>

#include "bpf/abi.h"
#include "daemon/stream/decoder.h"

using namespace tracectl;

namespace {

constexpr uint64_t kArgumentRoom = 2;

std::vector<std::byte> waited(uint64_t ts_ns, uint64_t cpu) {
  std::vector<std::byte> bytes(sizeof(tc_record) + kArgumentRoom * 8);
  tc_record record{};
  record.ts_ns = ts_ns;
  record.ring_dropped = cpu;
  record.kind = TC_RECORD_HIT;
  record.arg_room = kArgumentRoom;
  std::memcpy(bytes.data(), &record, sizeof(record));
  return bytes;
}

class Part {
 public:
  Part() : bytes_(offsetof(tc_kept, bytes)) {
    tc_record head{};
    head.kind = TC_RECORD_KEPT;
    head.ts_ns = 900;
    head.ring_dropped = 7;
    std::memcpy(bytes_.data(), &head, sizeof(head));
    set(offsetof(tc_kept, lost), 3);
  }

  void add(const std::vector<std::byte>& record) {
    bytes_.insert(bytes_.end(), record.begin(), record.end());
    say_bytes(bytes_.size() - offsetof(tc_kept, bytes));
  }
  void say_bytes(uint64_t count) { set(offsetof(tc_kept, byte_count), count); }
  void say_kind(uint8_t kind) {
    std::memcpy(bytes_.data() + offsetof(tc_record, kind), &kind, sizeof(kind));
  }
  void cut(size_t size) { bytes_.resize(size); }
  size_t size() const { return bytes_.size(); }
  std::span<const std::byte> bytes() const { return bytes_; }
  std::optional<KeptRecords> decoded() const { return decode_kept(bytes_); }

 private:
  void set(size_t offset, uint64_t value) {
    std::memcpy(bytes_.data() + offset, &value, sizeof(value));
  }

  std::vector<std::byte> bytes_;
};

Part two_records() {
  Part part;
  part.add(waited(100, 1));
  part.add(waited(200, 0));
  return part;
}

}  // namespace

TEST(KeptRecords, AreThoseThatWaitedInTheirOrder) {
  const Part part = two_records();
  const auto kept = part.decoded();
  ASSERT_TRUE(kept);
  EXPECT_EQ(kept->ts_ns, 900u);
  EXPECT_EQ(kept->ring_dropped, 7u);
  EXPECT_EQ(kept->lost, 3u);
  ASSERT_EQ(kept->records.size(), 2u);
  EXPECT_EQ(kept->records[0].cpu, 1u);
  EXPECT_EQ(kept->records[1].cpu, 0u);
  const Sources sources{
      {0, std::make_shared<const EventSource>(EventSource{"p", "s", {}, std::nullopt})}};
  for (const auto& [record, ts_ns] :
       {std::pair{kept->records[0], 100u}, {kept->records[1], 200u}}) {
    const auto decoded = decode_record(record.bytes, record.cpu, sources);
    ASSERT_TRUE(decoded);
    EXPECT_EQ(decoded->event.ts_ns, ts_ns);
    EXPECT_EQ(decoded->event.cpu, record.cpu);
  }
}

// Lengths in a ring are multiples of 8, so a record can be longer than the part in it.
TEST(KeptRecords, EndWhereThePartSaysWhateverIsBehind) {
  Part part = two_records();
  const size_t size = part.size();
  part.add(std::vector<std::byte>(8));
  part.say_bytes(size - offsetof(tc_kept, bytes));
  const auto kept = part.decoded();
  ASSERT_TRUE(kept);
  EXPECT_EQ(kept->records.size(), 2u);
}

TEST(KeptRecords, ThatAreCutOffAreRefused) {
  const size_t whole = two_records().size();
  for (size_t size = 0; size < whole; ++size) {
    Part part = two_records();
    part.cut(size);
    EXPECT_FALSE(part.decoded()) << size;
  }
}

TEST(KeptRecords, OfWhichOneIsCutOffAreRefused) {
  const uint64_t whole = two_records().size() - offsetof(tc_kept, bytes);
  for (uint64_t count = 0; count <= whole; ++count) {
    Part part = two_records();
    part.say_bytes(count);
    EXPECT_EQ(part.decoded().has_value(), count % (whole / 2) == 0) << count;
  }
}

TEST(KeptRecords, AreOfOneKindOnly) {
  Part part = two_records();
  part.say_kind(TC_RECORD_HIT);
  EXPECT_FALSE(part.decoded());
  EXPECT_FALSE(decode_record(two_records().bytes(), 0, {}));
  EXPECT_FALSE(look_at_plain_record(two_records().bytes()));
}
