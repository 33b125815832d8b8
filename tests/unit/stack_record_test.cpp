// SPDX-License-Identifier: BSD-2-Clause
//
// The stack in a record: well-formed ones, and refused ones.
#include <gtest/gtest.h>

#include <cstring>

#include "bpf/abi.h"
#include "daemon/stream/decoder.h"

using namespace tracectl;

namespace {

constexpr unsigned kMost = 20;
constexpr uint64_t kImage = 0x7ffc12345670;
constexpr size_t kHead = sizeof(tc_frames) / 8;  // words

const Sources kSources{
    {1, std::make_shared<const EventSource>(EventSource{"p", "s", {}, std::nullopt, kMost})}};

class Record {
 public:
  Record(uint8_t kind, size_t words) : bytes_(sizeof(tc_record) + words * 8) {
    head().kind = TC_RECORD_HIT;
    head().source = 1;
    head().flags = kind;
    head().stack_words = static_cast<uint16_t>(words);
  }

  tc_record& head() { return *reinterpret_cast<tc_record*>(bytes_.data()); }
  template <class Part> Part& stack() {
    return *reinterpret_cast<Part*>(bytes_.data() + sizeof(tc_record));
  }
  uint64_t* words() { return &stack<uint64_t>(); }

  std::shared_ptr<const RawStack> decoded() const {
    const auto record = decode_record(bytes_, 0, kSources);
    return record ? record->event.raw_stack : nullptr;
  }
  std::optional<StackAddresses> key_stack() const { return decode_key_stack(bytes_); }
  bool is_refused() const { return !decode_record(bytes_, 0, kSources); }

 private:
  std::vector<std::byte> bytes_;
};

Record of_frames(uint32_t count, uint32_t end, size_t room) {
  Record record(TC_RECORD_FRAMES, kHead + room);
  record.stack<tc_frames>() = {.count = count, .end = end, .image = kImage};
  for (size_t i = 0; i < room; ++i) record.words()[kHead + i] = 100 + i;
  return record;
}

}  // namespace

TEST(StackRecord, HasFramesAsManyAsItSays) {
  const auto stack = of_frames(3, TC_WALK_UNREADABLE, 4).decoded();
  ASSERT_TRUE(stack);
  EXPECT_EQ(stack->addresses, (std::vector<uint64_t>{100, 101, 102}));
  EXPECT_EQ(stack->end, StackEnd::unreadable);
  EXPECT_EQ(stack->image, kImage);
}

TEST(StackRecord, WithMoreFramesThanRoomOrNoneOrAnUnknownEndIsRefused) {
  EXPECT_TRUE(of_frames(5, TC_WALK_LIMIT, 4).is_refused());
  EXPECT_TRUE(of_frames(UINT32_MAX, TC_WALK_LIMIT, 4).is_refused());
  EXPECT_TRUE(of_frames(0, TC_WALK_LIMIT, 4).is_refused());
  EXPECT_TRUE(of_frames(1, TC_WALK_BAD_POINTER + 1, 4).is_refused());
}

TEST(StackRecord, HasRegistersAndTheBytesThatCouldBeRead) {
  Record record(TC_RECORD_STACK_COPY, sizeof(tc_stack_copy) / 8);
  auto& copy = record.stack<tc_stack_copy>();
  for (uint64_t i = 0; i < 17; ++i) copy.registers[i] = i;
  copy.start = 0x7000;
  copy.byte_count = 2 * TC_STACK_CHUNK;
  copy.image = kImage;
  copy.bytes[7] = 42;
  const auto stack = record.decoded();
  ASSERT_TRUE(stack);
  EXPECT_TRUE(stack->addresses.empty());
  EXPECT_EQ(stack->registers[TC_INSTRUCTION_POINTER], uint64_t{TC_INSTRUCTION_POINTER});
  EXPECT_EQ(stack->start, 0x7000u);
  ASSERT_EQ(stack->bytes.size(), size_t{2 * TC_STACK_CHUNK});
  EXPECT_EQ(stack->bytes[7], std::byte{42});
  EXPECT_EQ(stack->most_frames, kMost);
  EXPECT_EQ(stack->image, kImage);
  copy.byte_count = sizeof(copy.bytes) + 1;
  EXPECT_TRUE(record.is_refused());
}

TEST(StackRecord, ThatIsShorterThanItSaysOrOfAnotherKindIsRefused) {
  Record record = of_frames(3, TC_WALK_LIMIT, 4);
  record.head().stack_words = kHead + 5;
  EXPECT_TRUE(record.is_refused());
  EXPECT_TRUE(Record(TC_RECORD_FRAMES, 0).is_refused());
  EXPECT_TRUE(Record(TC_RECORD_FRAMES, kHead - 1).is_refused());
  EXPECT_TRUE(Record(TC_RECORD_STACK_COPY, 4).is_refused());
  EXPECT_TRUE(Record(TC_RECORD_FRAMES | TC_RECORD_STACK_COPY, 4).is_refused());
  EXPECT_TRUE(Record(0, 4).is_refused());
  EXPECT_FALSE(Record(0, 0).is_refused());
}

// The record of a stack that is a key is not a hit, whatever its source is.
TEST(StackRecord, OfAKeyIsNoEvent) {
  Record record = of_frames(2, TC_WALK_OUTERMOST, 4);
  record.head().kind = TC_RECORD_KEY_STACK;
  record.head().pid = 77;
  EXPECT_TRUE(record.is_refused());
  const auto stack = record.key_stack();
  ASSERT_TRUE(stack);
  EXPECT_EQ(stack->pid, 77);
  EXPECT_EQ(stack->image, kImage);
  EXPECT_EQ(stack->addresses, (std::vector<uint64_t>{100, 101}));
  EXPECT_FALSE(of_frames(2, TC_WALK_OUTERMOST, 4).key_stack());
  Record hollow = of_frames(5, TC_WALK_OUTERMOST, 4);
  hollow.head().kind = TC_RECORD_KEY_STACK;
  EXPECT_FALSE(hollow.key_stack());
}
