// SPDX-License-Identifier: BSD-2-Clause
//
// Threads that write files when memory has run out. The test needs nothing of the kernel; but
// memory_limit.h replaces functions that a sanitizer of the other tests would replace, too.
#include <gtest/gtest.h>
#include <sys/mman.h>

#include "daemon/model/event.h"
#include "daemon/stream/dump.h"
#include "daemon/stream/flight_recorder.h"
#include "daemon/stream/recorder.h"
#include "tests/support/memory_limit.h"
#include "tests/support/must.h"

namespace tracectl::on_kernel {
namespace {

constexpr unsigned kPatienceMs = 60'000;

Fd memory_file() { return Fd{::memfd_create("without-memory", MFD_CLOEXEC)}; }

std::vector<StreamItem> some_events() {
  Event event;
  event.source = std::make_shared<const EventSource>(EventSource{"p", "s", {}});
  std::vector<StreamItem> items;
  for (event.ts_ns = 1; event.ts_ns <= 100'000; ++event.ts_ns) items.push_back(event);
  return items;
}

template <class State> void expect_want_of_memory(const State& state) {
  ASSERT_TRUE(state.error);
  EXPECT_NE(state.error->message.find("not enough memory"), std::string::npos);
}

}  // namespace

TEST(WithoutMemory, ARecordingFailsAndSaysSo) {
  const auto recorder = must(Recorder::start(memory_file(), recording::Compression::none));
  const auto items = some_events();
  const MemoryOfOneThread ours;
  recorder->take(items);
  recorder->end();
  ASSERT_TRUE(recorder->wait_ms(kPatienceMs));
  const Recorder::State state = recorder->state();
  EXPECT_EQ(state.phase, Recorder::Phase::failed);
  expect_want_of_memory(state);
  EXPECT_EQ(state.events, 0u);
  EXPECT_EQ(state.lost, items.size());
}

TEST(WithoutMemory, ADumpFailsAndSaysSo) {
  FlightRecorder recorder({.bytes = 64 << 20});
  recorder.take(some_events());
  const MemoryOfOneThread ours;
  const auto dump =
      must(Dump::start(memory_file(), recorder.snapshot(), recording::Compression::none, "a test"));
  ASSERT_TRUE(dump->wait_ms(kPatienceMs));
  EXPECT_EQ(dump->state().phase, Dump::Phase::failed);
  expect_want_of_memory(dump->state());
}

}  // namespace tracectl::on_kernel
