// SPDX-License-Identifier: BSD-2-Clause
//
// Stacks of this process, resolved by readers that are slow, fail, or do not answer.
#include "daemon/stream/symbolizer.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
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

// The questions to its readers, and their prepared answers.
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

// A fork of this process, which runs as a user and waits to be killed.
class Child {
 public:
  explicit Child(uid_t user) {
    int ready[2];
    EXPECT_EQ(::pipe(ready), 0);
    pid_ = ::fork();
    if (pid_ == 0) {
      const bool is_user = ::setresuid(user, user, user) == 0;
      // A change of user makes a process undumpable, which hides its maps.
      (void)::prctl(PR_SET_DUMPABLE, 1);
      (void)!::write(ready[1], &is_user, sizeof(is_user));
      for (;;) ::pause();
    }
    bool is_user = false;
    EXPECT_EQ(::read(ready[0], &is_user, sizeof(is_user)), 1);
    EXPECT_TRUE(is_user);
    ::close(ready[0]);
    ::close(ready[1]);
  }
  ~Child() { end(); }

  Process process() const { return must(Process::open(pid_)); }
  pid_t pid() const { return pid_; }
  void end() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
    ended_ = std::exchange(pid_, -1);
  }
  pid_t ended() const { return ended_; }

 private:
  pid_t pid_ = -1, ended_ = -1;
};

class BoundedSymbolizer : public SymbolizerTest {
 protected:
  // Ends the child, and returns whether the symbolizer still has its mappings.
  bool knows(Child& child) {
    child.end();
    const auto order = copied();
    order->pid = child.ended();
    bounded.go_on({order});
    return !order->stack;
  }

  Symbolizer bounded{std::make_unique<FakeStacks>(desk), {.programs = 3, .open_files = 1000}};
};

TEST_F(BoundedSymbolizer, BeyondItsBoundTheProgramUsedLeastLatelyIsForgotten) {
  std::array<Child, 4> children{Child(::getuid()), Child(::getuid()), Child(::getuid()),
                                Child(::getuid())};
  for (const Child& child : children) bounded.remember(child.process());
  EXPECT_FALSE(knows(children[0]));
  EXPECT_TRUE(knows(children[1]));
  EXPECT_TRUE(knows(children[3]));
}

TEST_F(BoundedSymbolizer, WhoRunsManyProgramsTakesNoOtherUsersPlace) {
  if (::getuid() != 0) GTEST_SKIP() << "needs root, to run as two users";
  constexpr uid_t kOtherUser = 12345;
  Child first(0);
  std::array<Child, 4> many{Child(kOtherUser), Child(kOtherUser), Child(kOtherUser),
                            Child(kOtherUser)};
  bounded.remember(first.process());
  for (const Child& child : many) bounded.remember(child.process());
  EXPECT_TRUE(knows(first));
  EXPECT_FALSE(knows(many[1]));
  EXPECT_TRUE(knows(many[3]));
}

TEST_F(BoundedSymbolizer, FilesOfProgramsAreBoundedToo) {
  Symbolizer of_few{std::make_unique<FakeStacks>(desk), {.programs = 10, .open_files = 0}};
  Child first(::getuid()), second(::getuid());
  of_few.remember(first.process());
  of_few.remember(second.process());
  first.end();
  const auto order = copied();
  order->pid = first.ended();
  of_few.go_on({order});
  ASSERT_TRUE(order->stack);
  EXPECT_EQ(order->stack->end, StackEnd::unknown_process);
}

size_t open_descriptors() {
  const auto all = std::filesystem::directory_iterator("/proc/self/fd");
  return static_cast<size_t>(std::distance(begin(all), end(all)));
}

TEST_F(SymbolizerTest, WhenNobodyWantsStacksAllFilesAreClosed) {
  const size_t before = open_descriptors();
  Child child(::getuid());
  symbolizer.remember(child.process());
  EXPECT_GT(open_descriptors(), before);
  symbolizer.rest();
  EXPECT_EQ(open_descriptors(), before);
  symbolizer.remember(child.process());
  EXPECT_GT(open_descriptors(), before);
}

TEST_F(SymbolizerTest, RowsAreWaitedForNoLongerThanABound) {
  const StackAddresses stack{
      .pid = ::getpid(), .image = walked({1})->raw->image, .addresses = {code_of_this_process(0)}};
  const auto made = symbolizer.stacks_of(std::vector{stack}, {});
  ASSERT_EQ(made.size(), 1U);
  EXPECT_EQ(made[0].frames[0].address, code_of_this_process(0));
  EXPECT_EQ(made[0].frames[0].function, "");
}

}  // namespace
}  // namespace tracectl
