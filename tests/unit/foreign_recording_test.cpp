// SPDX-License-Identifier: BSD-2-Clause
//
// Hostile trace files, in which a few bytes ask for much memory.
#include <gtest/gtest.h>
#include <malloc.h>

#include "client/export/slices.h"
#include "client/page/page_data.h"
#include "client/render/call_tree.h"
#include "client/render/call_tree_text.h"
#include "client/render/folded.h"
#include "daemon/base/bytes.h"
#include "daemon/recording/encoder.h"
#include "daemon/spec/event_sums.h"
#include "daemon/stream/recorder.h"
#include "tests/support/call_events.h"
#include "tests/support/must.h"
#include "tests/support/recordings.h"

namespace tracectl {
namespace {

using namespace recording;
using on_kernel::must;

constexpr size_t kMiB = 1 << 20;

size_t used_bytes() {
  const struct mallinfo2 heap = ::mallinfo2();
  return heap.uordblks + heap.hblkhd;
}

// ---- definitions ----

// The records of a block of definitions.
class DefinitionRecords {
 public:
  void add(DefinitionKind kind, uint64_t number, const std::string& body) {
    std::string record;
    ByteWriter to(record);
    to.varint(static_cast<uint64_t>(kind));
    to.varint(number);
    record += body;
    ByteWriter(records_).text(record);
  }
  void add_frame(uint64_t number, uint64_t text) {
    // address, module, build-id, offset, function, offset, file, line, inlined, size
    add(DefinitionKind::frame, number, body({1, text, text, 1, text, 0, text, 1, 0, 0}));
  }
  void add_stack(uint64_t number, uint64_t frame, size_t count) {
    std::vector<uint64_t> members{0, 0, count};
    members.insert(members.end(), count, frame);
    add(DefinitionKind::stack, number, body(members));
  }
  const std::string& records() const { return records_; }

 private:
  static std::string body(const std::vector<uint64_t>& members) {
    std::string body;
    for (const uint64_t member : members) ByteWriter(body).varint(member);
    return body;
  }

  std::string records_;
};

TEST(ForeignRecording, TextsAreCut) {
  DefinitionRecords records;
  records.add(DefinitionKind::text, 1, std::string(kMiB, 'x'));
  DefinitionTables tables;
  EXPECT_TRUE(tables.add(records.records()));
  EXPECT_EQ(tables.text(1)->size(), kMostTextBytes);
  EXPECT_EQ(tables.cut(), 1);
}

// A source as earlier versions wrote it: the last members of its result are missing.
std::string source_of_earlier_version(uint64_t bits, uint64_t declared_type) {
  std::string result, body;
  for (const uint64_t member :
       {uint64_t{0}, uint64_t{8}, bits, uint64_t{0}, uint64_t{0}, declared_type, uint64_t{0}})
    ByteWriter(result).varint(member);
  for (const uint64_t member : {1, 1, 0, 1}) ByteWriter(body).varint(member);
  ByteWriter(body).text(result);
  return body;
}

// They took the register for the result of any function: of `double`, and of `void`, which had no type.
TEST(ForeignRecording, OfAnEarlierVersionHasResultsOfIntegersOnly) {
  constexpr uint64_t kSigned = 1, kFloat = 2;
  DefinitionRecords records;
  records.add(DefinitionKind::text, 1, "int");
  records.add(DefinitionKind::source, 2, source_of_earlier_version(kSigned, 1));
  records.add(DefinitionKind::source, 3, source_of_earlier_version(kFloat, 1));
  records.add(DefinitionKind::source, 4, source_of_earlier_version(0, 0));
  DefinitionTables tables;
  ASSERT_TRUE(tables.add(records.records()));
  EXPECT_EQ(tables.source(2)->result->place, Argument::Place::in_register);
  EXPECT_EQ(tables.source(3)->result->place, Argument::Place::unreadable);
  EXPECT_EQ(tables.source(4)->result->place, Argument::Place::unreadable);
}

TEST(ForeignRecording, StacksOfLongTextsAreCut) {
  DefinitionRecords records;
  records.add(DefinitionKind::text, 1, std::string(kMostTextBytes, 'x'));
  records.add_frame(2, 1);
  records.add_stack(3, 2, kMostStackFrames);
  DefinitionTables tables;
  EXPECT_TRUE(tables.add(records.records()));
  const auto stack = tables.stack(3);
  ASSERT_TRUE(stack);
  EXPECT_LE(stack->frames.size() * 4 * kMostTextBytes, DefinitionTables::kMostStackBytes);
  EXPECT_GT(stack->frames.size(), 1u);
  EXPECT_EQ(stack->end, StackEnd::limit);
  EXPECT_EQ(tables.cut(), 1);
}

TEST(ForeignRecording, DefinitionsThatTakeTooMuchAreRefused) {
  DefinitionRecords records;
  records.add(DefinitionKind::text, 1, std::string(kMostTextBytes, 'x'));
  uint64_t number = 1;
  while (++number <= DefinitionTables::kMostBytes / (4 * kMostTextBytes) + 1)
    records.add_frame(number, 1);
  DefinitionTables tables;
  EXPECT_FALSE(tables.add(records.records()));
  EXPECT_TRUE(tables.is_full());
}

TEST(ForeignRecording, StacksThatAreManyAreNotKept) {
  DefinitionRecords records;
  records.add(DefinitionKind::text, 1, std::string(kMostTextBytes, 'x'));
  records.add_frame(2, 1);
  for (uint64_t number = 3; number < 40; ++number) records.add_stack(number, 2, kMostStackFrames);
  DefinitionTables tables;
  EXPECT_TRUE(tables.add(records.records()));
  const size_t before = used_bytes();
  for (uint64_t number = 3; number < 40; ++number) {
    EXPECT_EQ(tables.stack(number), tables.stack(number));
    EXPECT_LT(used_bytes(), before + DefinitionTables::kMostMadeBytes + 8 * kMiB);
  }
}

// ---- blocks ----

TEST(ForeignRecording, OfBlocksOfAFewBytesLittleIsKept) {
  constexpr uint64_t kBlocks = 300'000;
  std::vector<StreamItem> items;
  for (uint64_t i = 0; i < kBlocks; ++i)
    items.emplace_back().emplace<Lost>(Lost{i, 1, LossCause::slow_disk, 0});
  Fd file = file_of(file_of_small_blocks(items));
  const size_t before = used_bytes();
  auto reader = must(Reader::open(std::move(file)));
  uint64_t read = 0, most_bytes = used_bytes();
  EXPECT_TRUE(reader.read({}, [&](const StreamItem&) {
    if (++read % 1000 == 0) most_bytes = std::max<uint64_t>(most_bytes, used_bytes());
    return true;
  }));
  EXPECT_EQ(read, kBlocks);
  EXPECT_LT(most_bytes, before + 4 * kMiB);
}

// Files of our own writer are read completely.
TEST(Recording, OfVeryLongNamesIsRead) {
  Event event = note_of(std::string(2 * kMiB, 'x'), 1);
  event.tag = std::string(2 * kMiB, 'y');
  Fd file = memory_file();
  auto recorder = must(Recorder::start(copy_of(file), Compression::none));
  const StreamItem item(event);
  recorder->take({&item, 1});
  recorder->end();
  ASSERT_TRUE(recorder->wait_ms(10'000));
  auto reader = must(Reader::open(copy_of(file)));
  uint64_t tag_bytes = 0;
  EXPECT_TRUE(reader.read({}, [&](const StreamItem& read) {
    tag_bytes += std::get<Event>(read).tag.size();
    return true;
  }));
  EXPECT_TRUE(is_whole(reader.damage()));
  EXPECT_EQ(reader.damage().cut, 0);
  EXPECT_EQ(tag_bytes, kMostTextBytes);
}

// ---- memory of events ----

std::shared_ptr<const Stack> stack_of(size_t frames, const std::string& function) {
  Stack stack;
  stack.frames.resize(frames);
  for (Frame& frame : stack.frames) frame.function = function;
  return std::make_shared<const Stack>(std::move(stack));
}

TEST(ForeignRecording, CallsOfALongNameTakeItOnce) {
  const std::string name(kMostTextBytes, 'f');
  const size_t before = used_bytes();
  CallTree tree;
  Slices slices([](const Slice&) { return ok(); });
  Event event = begin_of(name, {}, 0);
  for (uint32_t i = 0; i < 5000; ++i) {
    event.call = CallMark{i + 1, i};
    tree.add(event);
    EXPECT_TRUE(slices.add(event));
  }
  EXPECT_LT(used_bytes() - before, 32 * kMiB);
}

TEST(ForeignRecording, ArgumentsOfOpenCallsAreLeftOutWhereTheyAreTooLarge) {
  uint64_t slices_of_arguments = 0, told = 0;
  size_t bytes = 0;
  Slices slices([&](const Slice& slice) {
    ++slices_of_arguments;
    told += slice.arguments.find("no room") != std::string::npos;
    bytes += slice.arguments.size();
    return ok();
  });
  Event event = begin_of("f", {}, 0);
  auto source = std::make_shared<EventSource>(*event.source);
  source->arguments.resize(kMostArguments);
  for (Argument& one : source->arguments) one.name = std::string(4096, 'a');
  event.source = source;
  event.args.assign(kMostArguments, 1);
  for (uint32_t i = 0; i < 1000; ++i) {
    event.call = CallMark{i + 1, i};
    EXPECT_TRUE(slices.add(event));
  }
  EXPECT_TRUE(slices.finish(10));
  EXPECT_EQ(slices_of_arguments, 1000);
  EXPECT_GT(told, 100);
  EXPECT_LT(bytes, 130 * kMiB);
}

TEST(ForeignRecording, LinesOfStacksAreNotKeptWithoutEnd) {
  FoldedStacks folded;
  for (size_t i = 0; i < 160; ++i)
    folded.add(*stack_of(1000, std::to_string(i) + std::string(1000, 'f')));
  const std::string text = folded.text();
  EXPECT_LT(text.size(), 130 * kMiB);
  EXPECT_NE(text.find("[others] "), std::string::npos);
}

TEST(ForeignRecording, LinesOfCallsAreNotMadeWithoutEnd) {
  CallTree tree;
  const std::string name(4096, 'f');
  for (uint32_t i = 0; i < 900; ++i) tree.add(begin_of(name, {i + 1, i}, i));
  for (uint32_t i = 900; i-- > 0;) tree.add(end_of(name, {i + 1, i}, 9000 - i, 8000 - 2 * i));
  const std::string text = folded_text(tree);
  EXPECT_LT(text.size(), 260 * kMiB);
  EXPECT_NE(text.find("[others] "), std::string::npos);
}

TEST(ForeignRecording, KeysOfRowsAreNotKeptWithoutEnd) {
  EventSums sums = must(EventSums::parse("count by tag"));
  Event event = note_of("a:b", 1);
  for (size_t i = 0; i < 5000; ++i) {
    event.tag = std::to_string(i) + std::string(kMostTextBytes - 8, 't');
    sums.add(event);
  }
  EXPECT_GT(sums.left_out(), 500);
  EXPECT_LT(sums.rows().size(), 4500);
  EXPECT_EQ(sums.rows().size() + sums.left_out(), 5000);
}

TEST(ForeignRecording, StacksOfAPageAreLeftOutWhereTheyAreTooMany) {
  PageCollector collector;
  Event event = note_of("a:b", 1);
  Stack stack = *stack_of(kMostStackFrames, "f");
  for (size_t i = 0; i < 2200; ++i) {
    stack.frames.front().function = std::to_string(i);
    event.stack = std::make_shared<const Stack>(stack);
    collector.add(event);
  }
  const PageData& data = collector.finish();
  EXPECT_LE(data.stack_names, PageCollector::kMostStackNames);
  EXPECT_GT(data.left_out_stacks, 50);
}

}  // namespace
}  // namespace tracectl
