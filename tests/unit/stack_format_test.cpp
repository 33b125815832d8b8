// SPDX-License-Identifier: BSD-2-Clause
#include <gtest/gtest.h>

#include "client/render/folded.h"
#include "daemon/model/stack.h"
#include "daemon/protocol/stacks.h"

using namespace tracectl;

namespace {

// work, into which inner is inlined, called by code of a file without a build id.
Stack three_frames() {
  Stack stack;
  Frame& inner = stack.frames.emplace_back();
  inner.address = 0x7f0000001234;
  inner.module = "/opt/prog";
  inner.build_id = "abcd12";
  inner.offset = 0x1234;
  inner.function = "inner";
  Frame work = inner;
  inner.inlined = true;
  work.function = "work";
  work.function_offset = 4;
  stack.frames.push_back(work);
  Frame& caller = stack.frames.emplace_back();
  caller.address = 0x55550000;
  caller.module = "/opt/without";
  caller.offset = 0x50;
  caller.function = "caller";
  return stack;
}

std::string folded_as(StackFormat format) {
  FoldedStacks all(format);
  all.add(shown_as(format, three_frames()));
  return all.text();
}

std::string json_as(StackFormat format) {
  std::string text;
  protocol::append_stack(text, shown_as(format, three_frames()));
  return text;
}

}  // namespace

TEST(StackFormats, ShowAddressesOrBuildIdsInPlaceOfNames) {
  EXPECT_EQ(folded_as(StackFormat::symbols), "caller;work;inner 1\n");
  EXPECT_EQ(folded_as(StackFormat::raw), "0x55550000;0x7f0000001234 1\n");
  EXPECT_EQ(folded_as(StackFormat::build_id), "?;abcd12+0x1234 1\n");
}

TEST(StackFormats, LeaveOutOfJsonWhatTheyDoNotShow) {
  EXPECT_EQ(json_as(StackFormat::raw),
            ",\"stack\":[{\"address\":139637976732212,\"inlined\":false},"
            "{\"address\":1431633920,\"inlined\":false}],"
            "\"stack_by\":\"frame_pointers\",\"stack_end\":\"outermost\"");
  EXPECT_EQ(json_as(StackFormat::build_id),
            ",\"stack\":[{\"build_id\":\"abcd12\",\"offset\":4660,\"inlined\":false},"
            "{\"inlined\":false}],"
            "\"stack_by\":\"frame_pointers\",\"stack_end\":\"outermost\"");
}

TEST(StackFormats, OfRowsKeepTheirMeaningInMessages) {
  const Stack stack = shown_as(StackFormat::build_id, three_frames());
  const Frame again = protocol::frame_of(protocol::part_of(stack.frames[0]));
  EXPECT_EQ(to_string(again), "abcd12+0x1234");
  // A key of rows belongs to no process.
  Frame key = three_frames().frames[1];
  key.address = 0;
  EXPECT_EQ(to_string(shown_as(StackFormat::raw, key)), "?");
}
