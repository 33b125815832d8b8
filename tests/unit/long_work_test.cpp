// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/base/long_work.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <stdexcept>
#include <thread>

namespace tracectl {
namespace {

void wait_until_readable(int fd) {
  pollfd awaited{fd, POLLIN, 0};
  ASSERT_EQ(::poll(&awaited, 1, -1), 1);
}

TEST(LongWork, IsTheCallersWhereNothingIsToBeDoneMeanwhile) {
  LongWork work;
  std::thread::id by;
  work.run([&] { by = std::this_thread::get_id(); });
  EXPECT_EQ(by, std::this_thread::get_id());
}

TEST(LongWork, IsDoneBesideWhatIsDoneMeanwhile) {
  LongWork work;
  Fd begun{::eventfd(0, EFD_CLOEXEC)};
  std::thread::id meanwhile_by, by;
  work.set_meanwhile([&](int done_fd) {
    meanwhile_by = std::this_thread::get_id();
    const uint64_t one = 1;
    ASSERT_EQ(::write(begun.get(), &one, sizeof(one)), 8);
    wait_until_readable(done_fd);
  });
  work.run([&] {
    wait_until_readable(begun.get());  // never returns if the two do not run at the same time
    by = std::this_thread::get_id();
  });
  EXPECT_EQ(meanwhile_by, std::this_thread::get_id());
  EXPECT_NE(by, std::thread::id());
  EXPECT_NE(by, std::this_thread::get_id());
}

TEST(LongWork, HasEndedWhenMeanwhileEndsEarlier) {
  LongWork work;
  Fd over{::eventfd(0, EFD_CLOEXEC)};
  work.set_meanwhile([&](int) {
    const uint64_t one = 1;
    ASSERT_EQ(::write(over.get(), &one, sizeof(one)), 8);
  });
  bool ended = false;
  work.run([&] {
    wait_until_readable(over.get());
    ended = true;
  });
  EXPECT_TRUE(ended);
}

TEST(LongWork, ThrowsWhatItThrowsAndCanBeDoneAgain) {
  LongWork work;
  work.set_meanwhile(wait_until_readable);
  EXPECT_THROW(work.run([] { throw std::runtime_error("no"); }), std::runtime_error);
  int done = 0;
  work.run([&] { ++done; });
  EXPECT_EQ(done, 1);
}

TEST(LongWork, WithinOtherWorkIsDoneByWhoAsks) {
  LongWork work;
  work.set_meanwhile(wait_until_readable);
  std::thread::id outer, inner;
  work.run([&] {
    outer = std::this_thread::get_id();
    work.run([&] { inner = std::this_thread::get_id(); });
  });
  EXPECT_EQ(inner, outer);
}

}  // namespace
}  // namespace tracectl
