// SPDX-License-Identifier: BSD-2-Clause
//
// Stacks of this very process, named by who takes his time, fails, or has no time at all.
#include "daemon/events/symbolizer.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <unistd.h>

#include <deque>
#include <filesystem>

#include "tests/support/must.h"

namespace tracectl {
namespace {

using on_kernel::must;

constexpr size_t kCopyBytes = 16 << 10;

uint64_t code_of_this_process(size_t index) {
  return reinterpret_cast<uint64_t>(&code_of_this_process) + index;
}

// What its readers were asked, and will say.
struct Desk {
  std::vector<StackQuestion> asked;
  std::deque<Result<StackAnswer>> answers;
  bool is_busy = false;
  bool refuses = false;

  void name_all() {
    std::vector<Frames> named;
    for (const CodeAddress& code : std::get<std::vector<CodeAddress>>(asked.back())) {
      Frame frame;
      frame.address = code.address;
      frame.function = "f" + std::to_string(code.address);
      named.push_back({frame});
    }
    answers.push_back(StackAnswer{named});
  }
  void unwind_all(const std::vector<uint64_t>& addresses) {
    const size_t count = std::get<Copies>(asked.back()).size();
    const Unwound one{.end = StackEnd::outermost,
                      .addresses = addresses,
                      .stack_pointers = std::vector<uint64_t>(addresses.size(), 0x1000)};
    answers.push_back(StackAnswer{std::vector<Unwound>(count, one)});
  }
};

class FakeReader : public StackReader {
 public:
  explicit FakeReader(Desk& desk) : desk_(desk) {}

  Status ask(const StackQuestion& question) override {
    if (desk_.is_busy) return Error{Code::busy, "busy"};
    if (desk_.refuses) return Error{Code::invalid, "it is damaged"};
    desk_.asked.push_back(question);
    return ok();
  }
  std::optional<Result<StackAnswer>> take() override {
    if (desk_.answers.empty()) return std::nullopt;
    auto answer = std::move(desk_.answers.front());
    desk_.answers.pop_front();
    return answer;
  }

 private:
  Desk& desk_;
};

class FakeStacks : public StackReading {
 public:
  explicit FakeStacks(Desk& desk) : desk_(desk) {}
  std::unique_ptr<StackReader> open(std::vector<LoadedFile>) override {
    return std::make_unique<FakeReader>(desk_);
  }

 private:
  Desk& desk_;
};

class SymbolizerTest : public testing::Test {
 protected:
  std::shared_ptr<StackOrder> walked(std::vector<uint64_t> addresses) const {
    auto raw = std::make_shared<RawStack>();
    raw->image = image_;
    raw->addresses = std::move(addresses);
    return std::make_shared<StackOrder>(StackOrder{::getpid(), raw});
  }
  std::shared_ptr<StackOrder> copied() const {
    auto raw = std::make_shared<RawStack>();
    raw->image = image_;
    raw->registers.back() = code_of_this_process(0);
    raw->bytes.resize(kCopyBytes);
    return std::make_shared<StackOrder>(StackOrder{::getpid(), raw});
  }
  static std::vector<std::string> functions(const StackOrder& order) {
    std::vector<std::string> all;
    for (const Frame& frame : order.stack->frames) all.push_back(frame.function);
    return all;
  }
  static std::string name_of(size_t index) {
    return "f" + std::to_string(code_of_this_process(index));
  }

  Desk desk;
  Symbolizer symbolizer{std::make_unique<FakeStacks>(desk)};

 private:
  uint64_t image_ = must(Process::open(::getpid())).image().value();
};

TEST_F(SymbolizerTest, AStackIsMadeOnceItsAddressesAreNamed) {
  const auto order = walked({code_of_this_process(0), code_of_this_process(1)});
  symbolizer.go_on({order});
  EXPECT_FALSE(order->stack);
  desk.name_all();
  symbolizer.go_on({order});
  ASSERT_TRUE(order->stack);
  EXPECT_EQ(functions(*order), (std::vector{name_of(0), name_of(1)}));
  EXPECT_EQ(order->stack->frames[0].module, std::filesystem::read_symlink("/proc/self/exe"));
}

TEST_F(SymbolizerTest, WhatHasBeenNamedIsNotAskedAgain) {
  const auto first = walked({code_of_this_process(0)});
  symbolizer.go_on({first});
  desk.name_all();
  symbolizer.go_on({first});
  const auto second = walked({code_of_this_process(0)});
  symbolizer.go_on({second});
  EXPECT_TRUE(second->stack);
  EXPECT_EQ(desk.asked.size(), 1U);
}

TEST_F(SymbolizerTest, AStackThatIsGivenUpStaysAddresses) {
  const auto order = walked({code_of_this_process(0), code_of_this_process(1)});
  symbolizer.go_on({order});
  symbolizer.give_up({order});
  ASSERT_TRUE(order->stack);
  EXPECT_EQ(functions(*order), (std::vector<std::string>{"", ""}));
  EXPECT_EQ(order->stack->frames[1].address, code_of_this_process(1));
}

TEST_F(SymbolizerTest, NobodyWaitsForAProgramThatWasGivenUpUntilItHasAnswered) {
  const auto slow = walked({code_of_this_process(0)});
  symbolizer.go_on({slow});
  symbolizer.give_up({slow});
  const auto next = walked({code_of_this_process(0)});
  symbolizer.go_on({next});
  ASSERT_TRUE(next->stack);
  EXPECT_EQ(functions(*next), std::vector<std::string>{""});
  desk.name_all();
  const auto last = walked({code_of_this_process(0)});
  symbolizer.go_on({last});
  ASSERT_TRUE(last->stack);
  EXPECT_EQ(functions(*last), std::vector{name_of(0)});
}

TEST_F(SymbolizerTest, AFailureLeavesAddresses) {
  const auto walk = walked({code_of_this_process(0)});
  const auto copy = copied();
  symbolizer.go_on({walk, copy});
  desk.answers.push_back(Error{Code::invalid, "it is damaged"});
  symbolizer.go_on({walk, copy});
  ASSERT_TRUE(walk->stack && copy->stack);
  EXPECT_EQ(functions(*walk), std::vector<std::string>{""});
  ASSERT_EQ(copy->stack->frames.size(), 1U);
  EXPECT_EQ(copy->stack->frames[0].address, code_of_this_process(0));
  EXPECT_EQ(copy->stack->end, StackEnd::no_table);
}

TEST_F(SymbolizerTest, WhoRefusesIsNotWaitedFor) {
  desk.refuses = true;
  const auto order = walked({code_of_this_process(0)});
  symbolizer.go_on({order});
  EXPECT_TRUE(order->stack);
}

TEST_F(SymbolizerTest, WhoIsBusyIsAskedAgain) {
  desk.is_busy = true;
  const auto order = walked({code_of_this_process(0)});
  symbolizer.go_on({order});
  EXPECT_FALSE(order->stack);
  desk.is_busy = false;
  symbolizer.go_on({order});
  EXPECT_EQ(desk.asked.size(), 1U);
}

TEST_F(SymbolizerTest, ManyCopiesAreOneQuestionWithinItsBound) {
  StackOrders orders;
  for (int i = 0; i < 10; ++i) orders.push_back(copied());
  symbolizer.go_on(orders);
  ASSERT_EQ(desk.asked.size(), 1U);
  EXPECT_EQ(std::get<Copies>(desk.asked[0]).size(), kMostCopiedBytesAsked / kCopyBytes);
}

TEST_F(SymbolizerTest, ACopyIsUnwoundThenNamed) {
  const auto order = copied();
  symbolizer.go_on({order});
  desk.unwind_all({code_of_this_process(0), code_of_this_process(5)});
  symbolizer.go_on({order});
  EXPECT_FALSE(order->stack);
  desk.name_all();
  symbolizer.go_on({order});
  ASSERT_TRUE(order->stack);
  EXPECT_EQ(functions(*order), (std::vector{name_of(0), name_of(5)}));
  EXPECT_EQ(order->stack->by, StackBy::unwind_tables);
  EXPECT_EQ(order->stack->frames[0].size_bytes, 0U);
}

TEST_F(SymbolizerTest, WhatIsSaidToBeWhereNoFileIsIsNotBelieved) {
  constexpr uint64_t kNowhere = 0x10;
  const auto order = walked({code_of_this_process(0), kNowhere});
  symbolizer.go_on({order});
  desk.name_all();
  symbolizer.go_on({order});
  ASSERT_TRUE(order->stack);
  EXPECT_EQ(functions(*order), (std::vector<std::string>{name_of(0), ""}));
}

TEST_F(SymbolizerTest, AProcessThatNobodySawHasNoNames) {
  const auto order = walked({code_of_this_process(0)});
  auto raw = std::make_shared<RawStack>(*order->raw);
  raw->image += 1;
  order->raw = raw;
  symbolizer.go_on({order});
  ASSERT_TRUE(order->stack);
  EXPECT_TRUE(desk.asked.empty());
}

TEST_F(SymbolizerTest, RowsAreWaitedForNoLongerThanABound) {
  const StackAddresses stack{
      .pid = ::getpid(), .image = walked({1})->raw->image, .addresses = {code_of_this_process(0)}};
  const auto made = symbolizer.stacks_of(std::vector{stack});
  ASSERT_EQ(made.size(), 1U);
  EXPECT_EQ(made[0].frames[0].address, code_of_this_process(0));
  EXPECT_EQ(made[0].frames[0].function, "");
}

}  // namespace
}  // namespace tracectl
