// SPDX-License-Identifier: BSD-2-Clause
#include <gtest/gtest.h>

#include "client/render/deepest.h"

using namespace tracectl;

namespace {

Frame frame_of(const std::string& function, std::optional<uint64_t> size_bytes) {
  Frame frame;
  frame.function = function;
  frame.module = "/bin/worker";
  frame.size_bytes = size_bytes;
  return frame;
}

Event event_of(pid_t tid, uint64_t bytes, std::vector<Frame> frames,
               StackEnd end = StackEnd::outermost, StackBy by = StackBy::unwind_tables) {
  Event event;
  event.pid = 100;
  event.tid = tid;
  event.comm = "worker";
  event.args = {bytes};
  event.stack =
      std::make_shared<const Stack>(Stack{.by = by, .end = end, .frames = std::move(frames)});
  return event;
}

std::string text_of_stacks(const std::vector<Event>& events, size_t most = SIZE_MAX) {
  DeepestStacks stacks;
  for (const Event& event : events) stacks.add(event);
  return stacks.text(most);
}

}  // namespace

TEST(DeepestStacks, HaveOfEachFrameWhatItTakesAndWhatIsInUseFromThereOn) {
  Frame inlined = frame_of("middle", std::nullopt);
  inlined.inlined = true;
  EXPECT_EQ(text_of_stacks({event_of(101, 50, {frame_of("short", std::nullopt)}),
                            event_of(101, 1200,
                                     {frame_of("leaf", 8), inlined, frame_of("outer", 1000),
                                      frame_of("_start", std::nullopt)})}),
            "thread 101 (worker) of process 100: 1200 bytes\n"
            "DEPTH  SIZE  FUNCTION\n"
            " 1200     8  leaf+0x0 (worker)\n"
            "             middle (worker) [inlined]\n"
            " 1192  1000  outer+0x0 (worker)\n"
            "  192        _start+0x0 (worker)\n");
}

TEST(DeepestStacks, SayHowMuchIsMissing) {
  EXPECT_EQ(
      text_of_stacks({event_of(101, 30'000, {frame_of("leaf", 8), frame_of("deep", std::nullopt)},
                               StackEnd::end_of_copy)}),
      "thread 101 (worker) of process 100: 30000 bytes\n"
      "DEPTH  SIZE  FUNCTION\n"
      "30000     8  leaf+0x0 (worker)\n"
      "29992        deep+0x0 (worker)\n"
      "(29992 bytes further out, those of the last frame among them: broken off: the stack is "
      "longer than what was copied of it)\n");
  EXPECT_EQ(text_of_stacks({event_of(101, 300, {frame_of("leaf", std::nullopt)},
                                     StackEnd::outermost, StackBy::frame_pointers)}),
            "thread 101 (worker) of process 100: 300 bytes\n"
            "DEPTH  SIZE  FUNCTION\n"
            "             leaf+0x0 (worker)\n"
            "(found by frame pointers: what each frame takes is not known)\n");
}

TEST(DeepestStacks, OfTheDeepestThreadsComeFirst) {
  const auto leaf = [] { return std::vector{frame_of("leaf", std::nullopt)}; };
  const std::vector events{event_of(101, 10, leaf()), event_of(102, 300, leaf()),
                           event_of(101, 20, leaf())};
  const std::string all = text_of_stacks(events), first = text_of_stacks(events, 1);
  EXPECT_TRUE(first.ends_with("\n1 more thread\n"));
  EXPECT_TRUE(all.starts_with(first.substr(0, first.find("\n1 more")) + "\nthread 101"));
  EXPECT_TRUE(first.starts_with("thread 102"));
  EXPECT_EQ(all.find("10 bytes"), std::string::npos);
  EXPECT_EQ(text_of_stacks({}), "");
}

// A stack that is not deeper than the one before belongs to another thread.
TEST(DeepestStacks, OfAThreadThatHasAnothersNumberAreItsOwn) {
  const auto leaf = [] { return std::vector{frame_of("leaf", std::nullopt)}; };
  const std::string text = text_of_stacks({event_of(101, 300, leaf()), event_of(101, 10, leaf()),
                                           event_of(101, 40, leaf()), event_of(101, 400, leaf())});
  EXPECT_NE(text.find(": 300 bytes"), std::string::npos);
  EXPECT_NE(text.find(": 400 bytes"), std::string::npos);
  EXPECT_EQ(text.find(": 40 bytes"), std::string::npos);
}
