// SPDX-License-Identifier: BSD-2-Clause
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "client/render/open_calls.h"
#include "tests/support/call_events.h"
#include "tests/support/random_calls.h"

using namespace tracectl;
using testing::ElementsAre;
using testing::IsEmpty;

namespace {

using StepKind = CallStep::Kind;

Event begin(uint32_t number, uint32_t depth) { return begin_of("f", {number, depth}, 0); }
Event end(uint32_t number, uint32_t depth) { return end_of("f", {number, depth}, 0, 0); }

class OpenCallsOfAThread : public testing::Test {
 protected:
  std::vector<CallStep> take(const Event& event) { return calls_.take(event); }
  void open(uint32_t count) {
    for (uint32_t i = 0; i < count; ++i) take(begin(i + 1, i));
  }

  OpenCalls calls_;
};

}  // namespace

TEST_F(OpenCallsOfAThread, BeginAndEndByTheirNumbers) {
  EXPECT_THAT(take(begin(1, 0)), ElementsAre(CallStep{StepKind::begun, 0}));
  EXPECT_THAT(take(begin(2, 1)), ElementsAre(CallStep{StepKind::begun, 1}));
  EXPECT_THAT(take(end(2, 1)), ElementsAre(CallStep{StepKind::ended, 1}));
  EXPECT_THAT(take(end(1, 0)), ElementsAre(CallStep{StepKind::ended, 0}));
}

TEST_F(OpenCallsOfAThread, EndOutOfOrderWhereTheOthersGoOn) {
  open(3);
  EXPECT_THAT(take(end(1, 2)), ElementsAre(CallStep{StepKind::ended, 0}));
  EXPECT_THAT(take(end(3, 1)), ElementsAre(CallStep{StepKind::ended, 1}));
  EXPECT_THAT(take(end(2, 0)), ElementsAre(CallStep{StepKind::ended, 0}));
}

TEST_F(OpenCallsOfAThread, EndedUnseenWhereTheNextOneIsNoDeeper) {
  open(3);
  EXPECT_THAT(take(begin(4, 1)),
              ElementsAre(CallStep{StepKind::lost, 2}, CallStep{StepKind::lost, 1},
                          CallStep{StepKind::begun, 1}));
}

TEST_F(OpenCallsOfAThread, EndedUnseenWhereOneAroundThemEnds) {
  open(4);
  EXPECT_THAT(take(end(2, 1)), ElementsAre(CallStep{StepKind::lost, 3}, CallStep{StepKind::lost, 2},
                                           CallStep{StepKind::ended, 1}));
}

TEST_F(OpenCallsOfAThread, AroundTheInnermostHaveEndedUnseenIfNoneIsOpenBehindIt) {
  open(3);
  EXPECT_THAT(take(end(3, 0)), ElementsAre(CallStep{StepKind::lost, 1}, CallStep{StepKind::lost, 0},
                                           CallStep{StepKind::ended, 0}));
}

TEST_F(OpenCallsOfAThread, BeganUnseenWhereTheNextOneIsDeeper) {
  open(1);
  EXPECT_THAT(take(begin(4, 3)),
              ElementsAre(CallStep{StepKind::appeared, 1}, CallStep{StepKind::appeared, 2},
                          CallStep{StepKind::begun, 3}));
  EXPECT_THAT(take(end(4, 3)), ElementsAre(CallStep{StepKind::ended, 3}));
  EXPECT_THAT(take(end(3, 2)), ElementsAre(CallStep{StepKind::ended, 2}));
  EXPECT_THAT(take(end(2, 1)), ElementsAre(CallStep{StepKind::ended, 1}));
}

TEST_F(OpenCallsOfAThread, BeganUnseenIfNothingIsKnownButTheirEnd) {
  open(1);
  EXPECT_THAT(take(end(9, 1)),
              ElementsAre(CallStep{StepKind::appeared, 1}, CallStep{StepKind::ended, 1}));
  EXPECT_THAT(take(end(1, 0)), ElementsAre(CallStep{StepKind::ended, 0}));
}

TEST_F(OpenCallsOfAThread, TakenForLostAreKnownWhenTheirEndComesAndAnOlderOneIsOver) {
  open(2);
  EXPECT_THAT(take(begin(3, 1)),
              ElementsAre(CallStep{StepKind::lost, 1}, CallStep{StepKind::begun, 1}));
  EXPECT_THAT(take(end(2, 1)),
              ElementsAre(CallStep{StepKind::late, 2}, CallStep{StepKind::lost, 0}));
  EXPECT_THAT(take(end(3, 0)), ElementsAre(CallStep{StepKind::ended, 0}));
}

TEST_F(OpenCallsOfAThread, AreOverWhenItsNumbersBeginAnew) {
  open(2);
  EXPECT_THAT(take(begin(1, 2)),
              ElementsAre(CallStep{StepKind::lost, 1}, CallStep{StepKind::lost, 0},
                          CallStep{StepKind::appeared, 0}, CallStep{StepKind::appeared, 1},
                          CallStep{StepKind::begun, 2}));
}

TEST_F(OpenCallsOfAThread, AreOverWhenItsIdIsOfAnotherProcess) {
  open(1);
  Event other = begin(7, 1);
  other.pid = 99;
  EXPECT_THAT(take(other), ElementsAre(CallStep{StepKind::lost, 0}, CallStep{StepKind::appeared, 0},
                                       CallStep{StepKind::begun, 1}));
}

TEST_F(OpenCallsOfAThread, ThatAreCutAndOtherProbesOpenNothing) {
  open(2);
  EXPECT_THAT(take(begin(0, 2)), ElementsAre(CallStep{StepKind::cut, 2}));
  EXPECT_THAT(take(note_of("a:b", 0)), ElementsAre(CallStep{StepKind::noted, 2}));
  EXPECT_THAT(take(end(2, 1)), ElementsAre(CallStep{StepKind::ended, 1}));
}

TEST_F(OpenCallsOfAThread, AreNoneOfAnother) {
  open(2);
  EXPECT_THAT(take(in_thread(5, begin(1, 0))), ElementsAre(CallStep{StepKind::begun, 0}));
  EXPECT_THAT(take(end(2, 1)), ElementsAre(CallStep{StepKind::ended, 1}));
}

TEST(OpenCallsOfVeryManyThreads, AreForgottenWhereItWasQuietLongest) {
  constexpr auto kMost = static_cast<pid_t>(OpenCalls::kMostThreads);
  OpenCalls calls;
  for (pid_t tid = 1; tid <= kMost; ++tid) {
    calls.take(in_thread(tid, begin(1, 0)));
    ASSERT_THAT(calls.forgotten(), IsEmpty());
  }
  EXPECT_THAT(calls.take(in_thread(1, begin(2, 1))), ElementsAre(CallStep{StepKind::begun, 1}));
  EXPECT_THAT(calls.take(in_thread(kMost + 1, note_of("a:b", 0))),
              ElementsAre(CallStep{StepKind::noted, 0}));
  EXPECT_THAT(calls.forgotten(), IsEmpty());
  calls.take(in_thread(kMost + 1, begin(1, 0)));
  EXPECT_THAT(calls.forgotten(), ElementsAre(2));
  EXPECT_THAT(calls.take(in_thread(2, end(1, 0))),
              ElementsAre(CallStep{StepKind::appeared, 0}, CallStep{StepKind::ended, 0}));
  EXPECT_THAT(calls.forgotten(), IsEmpty());
  EXPECT_THAT(calls.take(in_thread(1, end(2, 1))), ElementsAre(CallStep{StepKind::ended, 1}));
}

TEST(OpenCallsOfVeryManyThreads, AreNoMoreThanThereIsRoomFor) {
  constexpr uint32_t kDeep = 10'000;
  OpenCalls calls;
  size_t open = 0;
  // One event each opens so many calls, because the file's author can claim any depth.
  for (pid_t tid = 1; tid <= 200; ++tid) {
    calls.take(in_thread(tid, begin(1, kDeep)));
    open += kDeep + 1;
    open -= calls.forgotten().size() * (kDeep + 1);
    ASSERT_LE(open, OpenCalls::kMostCalls);
  }
}

TEST_F(OpenCallsOfAThread, AreNotMadeOfADepthThatNoThreadHas) {
  EXPECT_LT(take(begin(1, UINT32_MAX)).size(), 20000u);
  EXPECT_LT(take(end(1, UINT32_MAX - 1)).size(), 20000u);
}

namespace {

// Counts the open calls by the steps; false if a step is about a call that is not open.
class Count {
 public:
  bool make(const CallStep& step) {
    const bool is_new = step.kind == StepKind::begun || step.kind == StepKind::appeared;
    const bool is_end = step.kind == StepKind::ended || step.kind == StepKind::lost;
    if (is_end ? step.index >= open_ : step.index != open_) return false;
    open_ += is_new ? 1 : 0;
    open_ -= is_end ? 1 : 0;
    return true;
  }
  size_t open() const { return open_; }

 private:
  size_t open_ = 0;
};

}  // namespace

TEST(OpenCalls, AreAsManyAsThereAreAfterEveryEventWhateverWasLost) {
  for (unsigned seed = 0; seed < 200; ++seed) {
    RandomCalls program(seed, seed % 2);
    OpenCalls calls;
    std::map<pid_t, Count> counts;
    for (int i = 0; i < 300; ++i) {
      const Event event = program.next();
      if (program.below(4) == 0) continue;
      Count& count = counts[event.tid];
      for (const CallStep& step : calls.take(event)) ASSERT_TRUE(count.make(step));
      if (!event.call) continue;
      ASSERT_EQ(count.open(), program.thread(event.tid).open.size()) << seed;
    }
  }
}
