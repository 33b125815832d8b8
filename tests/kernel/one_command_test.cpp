// SPDX-License-Identifier: BSD-2-Clause
//
// An engine for one command loads the program that can serve any hook only when a hook needs it.
#include <bpf/bpf.h>

#include <filesystem>
#include <string_view>

#include "tests/support/tracer.h"

namespace tracectl::on_kernel {
namespace {

// Whether this process has a BPF program of that name.
bool has_program(std::string_view name) {
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code gone;
    if (std::filesystem::read_symlink(entry.path(), gone) != "anon_inode:bpf-prog") continue;
    bpf_prog_info info{};
    uint32_t size = sizeof(info);
    if (bpf_obj_get_info_by_fd(std::stoi(entry.path().filename()), &info, &size) == 0 &&
        info.name == name)
      return true;
  }
  return false;
}

class OneCommand : public KernelTest {
 protected:
  void SetUp() override {
    KernelTest::SetUp();
    if (IsSkipped()) return;
    engine.reset();
    engine = must(Engine::start(must(Kernel::open({.for_one_command = true})),
                                EngineOptions{.for_one_command = true}));
    create("s");
  }
  uint64_t calls() {
    program.send("stop");
    return parsed(program.finish())["total"].get<uint64_t>();
  }

  Program program{"counters", {"2", "0", "100"}};
};

TEST_F(OneCommand, CountsWithoutTheProgramOfOtherHooks) {
  set("s", "uprobe::f00*", process(program.pid()), "count");
  EXPECT_TRUE(has_program("on_count"));
  EXPECT_FALSE(has_program("on_site"));
  program.send("go");
  until([&] { return sum(read("s")) > 0; });
  const uint64_t called = calls();
  EXPECT_EQ(sum(read("s")), called);
}

TEST_F(OneCommand, LoadsTheProgramOfOtherHooksWithTheFirstOfThem) {
  set("s", "uprobe::f00*", process(program.pid()), "count by tid");
  EXPECT_TRUE(has_program("on_site"));
  program.send("go");
  const uint64_t called = calls();
  EXPECT_EQ(sum(read("s")), called);
}

// Its sites change from one program to the other and back, each time by a handover.
TEST_F(OneCommand, MissesNoCallWhereItsHooksComeToDoMore) {
  const auto target = process(program.pid());
  set("s", "uprobe::f00*", target, "count");
  program.send("go");
  uint64_t counted = 0;
  for (int i = 0; i < 20; ++i) {
    set("s", "uprobe::f00*", target, i % 2 ? "count" : "count by tid");
    counted += sum(read("s", true));
  }
  const uint64_t called = calls();
  EXPECT_EQ(counted + sum(read("s")), called);
}

// Also with hooks of another session of the same command at the same sites.
TEST_F(OneCommand, MissesNoCallWhereAnotherOfItsSessionsDoesMore) {
  const auto target = process(program.pid());
  set("s", "uprobe::f00*", target, "count");
  program.send("go");
  for (int i = 0; i < 10; ++i) {
    create("other");
    set("other", "uprobe::f000*", target, "event");
    must(engine->delete_session("other"));
  }
  const uint64_t called = calls();
  EXPECT_EQ(sum(read("s")), called);
}

}  // namespace
}  // namespace tracectl::on_kernel
