// SPDX-License-Identifier: BSD-2-Clause
//
// Uprobes by perf events, which this kernel has, too, though they are only used where there is no uprobe_multi link.
#include "daemon/kernel/perf_uprobes.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <optional>
#include <string>
#include <vector>

#include "daemon/kernel/machine.h"
#include "daemon/kernel/own_code.h"
#include "daemon/kernel/trial.h"
#include "tests/support/must.h"

using namespace tracectl;
using on_kernel::must;

namespace {

constexpr uint64_t kCalls = 1000;
constexpr unsigned kNoAttachType = 0;

class PerfUprobes : public testing::Test {
 protected:
  void SetUp() override {
    if (::geteuid() != 0) GTEST_SKIP() << "arming probes needs root";
    child_.emplace(must(TrialChild::start()));
    program_.emplace(must(CountingProgram::load(kNoAttachType)));
  }

  // In the child, one after another.
  std::vector<Fd> arm(const std::vector<const void*>& functions) {
    std::vector<uint64_t> offsets;
    Fd file;
    for (const void* function : functions) {
      auto own = must(own_code(function));
      offsets.push_back(own.offset);
      file = std::move(own.file);
    }
    return arm_by_perf_events({.program_fd = program_->fd(),
                               .object_fd = file.get(),
                               .filter = child_->pid(),
                               .offsets = offsets});
  }

  // The first byte of the function in the child, which is a fork of this process.
  uint8_t byte_of(TrialFunction function) const {
    const Fd memory{
        ::open(("/proc/" + std::to_string(child_->pid()) + "/mem").c_str(), O_RDONLY | O_CLOEXEC)};
    uint8_t byte = 0;
    const auto at = static_cast<off_t>(reinterpret_cast<uintptr_t>(address_of(function)));
    EXPECT_EQ(::pread(memory.get(), &byte, 1, at), 1);
    return byte;
  }

  std::optional<TrialChild> child_;
  std::optional<CountingProgram> program_;
};

// The most descriptors that this process may open, while it exists.
class DescriptorLimit {
 public:
  explicit DescriptorLimit(rlim_t most) {
    ::getrlimit(RLIMIT_NOFILE, &before_);
    const rlimit limit{most, before_.rlim_max};
    EXPECT_EQ(::setrlimit(RLIMIT_NOFILE, &limit), 0);
  }
  ~DescriptorLimit() { ::setrlimit(RLIMIT_NOFILE, &before_); }
  DescriptorLimit(const DescriptorLimit&) = delete;
  DescriptorLimit& operator=(const DescriptorLimit&) = delete;

 private:
  rlimit before_{};
};

TEST_F(PerfUprobes, CountTheCallsOfOneProcessAndLeaveItsCodeAsItWas) {
  auto bystander = must(TrialChild::start());
  const uint8_t before = byte_of(TrialFunction::nop);
  auto armed = arm({address_of(TrialFunction::nop)});
  ASSERT_EQ(armed.size(), 1u);
  EXPECT_EQ(byte_of(TrialFunction::nop), first_byte_of_breakpoint());
  ASSERT_TRUE(child_->call(TrialFunction::nop, kCalls));
  ASSERT_TRUE(bystander.call(TrialFunction::nop, kCalls));
  EXPECT_EQ(program_->count(), kCalls);
  armed.clear();
  EXPECT_EQ(byte_of(TrialFunction::nop), before);
  ASSERT_TRUE(child_->call(TrialFunction::nop, kCalls));
  EXPECT_EQ(program_->count(), kCalls);
}

TEST_F(PerfUprobes, StopAtTheFirstSiteThatIsRefused) {
  const auto armed = arm({address_of(TrialFunction::nop), address_of(TrialFunction::unsupported),
                          address_of(TrialFunction::system_call)});
  const int err = errno;
  EXPECT_EQ(armed.size(), 1u);
  EXPECT_EQ(err, kNotSupported);
  EXPECT_NE(byte_of(TrialFunction::system_call), first_byte_of_breakpoint());
}

TEST_F(PerfUprobes, AreRefusedBeforeDescriptorsRunOut) {
  const DescriptorLimit limit(100);
  EXPECT_TRUE(can_open(10));
  const auto many = can_open(100);
  ASSERT_FALSE(many);
  EXPECT_EQ(many.error().code, Code::exhausted);
  EXPECT_NE(many.error().message.find("a descriptor for each of 100 probes"), std::string::npos)
      << many.error().message;
}

}  // namespace
