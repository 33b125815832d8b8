// SPDX-License-Identifier: BSD-2-Clause
//
// A file that has changed since it was read: a user who can write a library must not get anything
// executed by the engine, which runs as root.
#include <fcntl.h>
#include <sys/wait.h>

#include <array>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <span>

#include "tests/support/tracer.h"

namespace tracectl::on_kernel {
namespace {

using Code = std::array<uint8_t, 5>;

constexpr Code kNop{0x0f, 0x1f, 0x44, 0x00, 0x00};
constexpr uint64_t kOffset = 0x100;

// A file of two pages with this code in it.
class CodeFile {
 public:
  explicit CodeFile(const Code& code) {
    std::array<uint8_t, 8192> bytes{};
    std::memcpy(bytes.data() + kOffset, code.data(), code.size());
    std::ofstream file(path_, std::ios::binary);
    file.write(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    file.close();
    fd_ = Fd{::open(path_.c_str(), O_RDONLY | O_CLOEXEC)};
  }
  ~CodeFile() { std::filesystem::remove(path_); }

  // Like a request after its 5-byte nop was checked.
  ArmRequest request() const {
    return {.object_fd = fd_.get(),
            .object_path = path_,
            .filter = 0,
            .unmapped = false,
            .incarnation = 1,
            .sites = {{.slot = 1, .offset = kOffset, .semaphore = 0, .nop5 = true}}};
  }

 private:
  const std::string path_ = test_folder() + "/hostile-code";
  Fd fd_;
};

class Hostile : public KernelTest {
 protected:
  void SetUp() override {
    KernelTest::SetUp();
    if (IsSkipped()) return;
    engine.reset();
    kernel = must(Kernel::open());
    if (!kernel->keeps_breakpoints()) GTEST_SKIP() << "nobody hits 5-byte nops for this kernel";
  }

  void expect_refused(const Code& code) {
    const CodeFile file(code);
    const auto armed = kernel->switching().arm(file.request());
    const auto* failure = std::get_if<ArmFailure>(&armed);
    ASSERT_TRUE(failure) << "armed";
    EXPECT_NE(failure->error.message.find("has changed since it was read"), std::string::npos)
        << failure->error.message;
    EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1) << "a child is left";
  }

  std::unique_ptr<Kernel> kernel;
};

TEST_F(Hostile, ANopIsArmed) {
  const CodeFile file(kNop);
  EXPECT_TRUE(std::holds_alternative<Link>(kernel->switching().arm(file.request())));
}

TEST_F(Hostile, ASystemCallIsNotMade) {
  expect_refused({0x6a, 39, 0x58, 0x0f, 0x05});  // push 39 (getpid), pop %rax, syscall
}

TEST_F(Hostile, AnEndIsNotOurs) {
  expect_refused({0x6a, 60, 0x58, 0x0f, 0x05});  // the same for exit, which is allowed
}

TEST_F(Hostile, AFaultIsNotOurs) {
  expect_refused({0x31, 0xc0, 0x88, 0x00, 0x90});  // xor %eax, %eax; mov %al, (%rax); nop
}

TEST_F(Hostile, ALoopIsEnded) {
  expect_refused({0xe9, 0xfb, 0xff, 0xff, 0xff});  // jmp to itself
}

TEST_F(Hostile, AnotherFileIsArmedAfterwards) {
  expect_refused({0x6a, 39, 0x58, 0x0f, 0x05});
  const CodeFile file(kNop);
  EXPECT_TRUE(std::holds_alternative<Link>(kernel->switching().arm(file.request())));
}

struct Nobody final : EventSink {
  void take(std::span<const StreamItem>) override {}
};

// Memory that hostile code could damage with a mere store does not exist in a child.
TEST_F(Hostile, NothingThatCanBeWrittenIsSharedWithChildren) {
  kernel.reset();
  start(EngineOptions{});
  Program program("counters", {"1", "1"});
  create("s");
  must(engine->streams().subscribe("s", std::make_shared<Nobody>()));
  set("s", "uprobe::f0000", process(program.pid()), "event");
  std::ifstream smaps("/proc/self/smaps");
  size_t shared = 0;
  for (std::string line, name; std::getline(smaps, line);) {
    if (line.find("-") < line.find(" ")) name = line;
    const auto has = [&](const char* flag) { return line.find(flag) != std::string::npos; };
    if (!line.starts_with("VmFlags:") || !has(" sh") || !has(" wr")) continue;
    ++shared;
    EXPECT_TRUE(has(" dc")) << name;
  }
  EXPECT_GT(shared, 1u);
}

}  // namespace
}  // namespace tracectl::on_kernel
