// SPDX-License-Identifier: BSD-2-Clause
//
// Commits of sites that are refused (tests/targets/refused.c).
#include <fcntl.h>

#include <map>
#include <set>

#include "daemon/object/elf_file.h"
#include "tests/support/tracer.h"

namespace tracectl::on_kernel {
namespace {

using FailedCommit = KernelTest;

TEST_F(FailedCommit, OneRefusedSiteChangesNothing) {
  Program program("refused", {"100"});
  const auto target = process(program.pid());
  create("s");
  set("s", "uprobe::good_a", target, "count");
  const auto before = changed_code(program.pid(), program.path());
  must(stage("s", "uprobe::good_*", target, "count by tid"));
  must(stage("s", "uprobe::refused_lock", target, "count"));
  const auto failed = engine->commits().commit("s", {});
  ASSERT_FALSE(failed);
  EXPECT_TRUE(names(failed.error().message, "refused_lock")) << failed.error().message;
  EXPECT_EQ(changed_code(program.pid(), program.path()), before);
  const auto said = parsed(program.run());
  const auto results = read("s");
  ASSERT_EQ(results.rows.size(), 1u);
  EXPECT_EQ(tid_of(results.rows.begin()->first), 0);
  EXPECT_EQ(results.rows.begin()->second.count, said["good_a"].get<uint64_t>());
}

TEST_F(FailedCommit, PartialArmsTheRestAndListsWhatIsLeftOut) {
  Program program("refused", {"100"});
  const auto target = process(program.pid());
  create("s");
  must(stage("s", "uprobe::good_*", target, "count"));
  must(stage("s", "uprobe::refused_cs_nop", target, "count"));
  must(stage("s", "uprobe::refused_lock", target, "count"));
  must(stage("s", "uprobe::refused_int3", target, "count"));
  const auto commit = must(engine->commits().commit("s", {.partial = true}));
  EXPECT_EQ(commit.probes, 10u);
  std::set<std::string> refused;
  for (const Refusal& one : commit.refused) {
    refused.insert(function_of(one.probe));
    EXPECT_FALSE(one.reason.empty());
  }
  EXPECT_EQ(refused, (std::set<std::string>{"refused_cs_nop", "refused_lock", "refused_int3"}));
  const auto said = parsed(program.run());
  const auto results = read("s");
  EXPECT_EQ(results.rows.size(), 10u);
  for (const auto& [key, row] : results.rows)
    EXPECT_EQ(row.count, said[function_of(key.probe)].get<uint64_t>()) << key.probe;
}

// Of what a glob fits, all that can be armed is armed, even if only the kernel could say what cannot.
TEST_F(FailedCommit, AGlobArmsWhatItCan) {
  Program program("refused", {"100"});
  create("s");
  const auto commit = set("s", "uprobe::*o*", process(program.pid()), "count");
  std::set<std::string> refused;
  for (const Refusal& one : commit.refused) refused.insert(function_of(one.probe));
  EXPECT_EQ(refused, (std::set<std::string>{"refused_cs_nop", "refused_lock"}));
  const auto said = parsed(program.run());
  std::map<std::string, uint64_t> counts;
  for (const auto& [key, row] : read("s").rows) counts[function_of(key.probe)] = row.count;
  for (char letter = 'a'; letter <= 'j'; ++letter) {
    const std::string function = std::string("good_") + letter;
    EXPECT_EQ(counts[function], said[function].get<uint64_t>()) << function;
  }
}

TEST_F(FailedCommit, AStrictOneFailsForAGlobToo) {
  Program program("refused", {"100"});
  const auto before = changed_code(program.pid(), program.path());
  create("s");
  must(stage("s", "uprobe::*", process(program.pid()), "count"));
  const auto failed = engine->commits().commit("s", {.strict = true});
  ASSERT_FALSE(failed);
  EXPECT_TRUE(names(failed.error().message, "refused_lock")) << failed.error().message;
  EXPECT_TRUE(names(failed.error().message, "--strict")) << failed.error().message;
  EXPECT_EQ(changed_code(program.pid(), program.path()), before);
}

TEST_F(FailedCommit, AGlobOfWhichNothingIsLeftFails) {
  Program program("refused", {"100"});
  create("s");
  must(stage("s", "uprobe::good_*", process(program.pid()), "count"));
  must(stage("s", "uprobe::refused_*", process(program.pid()), "count"));
  const auto failed = engine->commits().commit("s", {});
  ASSERT_FALSE(failed);
  EXPECT_TRUE(names(failed.error().message, "3 sites cannot be armed")) << failed.error().message;
}

// Directly at the kernel's interface: an instruction that it will not probe must also be refused
// while no process maps the file, although the kernel then looks at none.
TEST_F(FailedCommit, WhatTheKernelWillNotPlaceIsRefusedBeforeAnybodyMapsIt) {
  engine.reset();
  const auto kernel = must(Kernel::open());
  const std::string path = target_path("refused");
  const Fd file{::open(path.c_str(), O_RDONLY | O_CLOEXEC)};
  ASSERT_TRUE(file);
  const auto elf = must(ElfFile::open(file.get(), path));
  ArmRequest request{.object_fd = file.get(),
                     .object_path = path,
                     .filter = 0,
                     .unmapped = false,
                     .incarnation = 1,
                     .sites = {}};
  uint32_t slot = 0;
  size_t lock = 0;
  for (const Function& function : elf.functions()) {
    if (function.name == "refused_lock") lock = request.sites.size();
    if (function.name == "refused_lock" || function.name.starts_with("good_"))
      request.sites.push_back({++slot, function.offset, 0});
  }
  ASSERT_EQ(request.sites.size(), 11u);
  Program elsewhere("counters", {"1", "1"});  // maps another file
  const auto refused = [&] {
    const auto armed = kernel->switching().arm(request);
    const auto* failure = std::get_if<ArmFailure>(&armed);
    std::vector<size_t> indices;
    if (failure)
      for (const auto& site : failure->refused_sites) indices.push_back(site.index);
    return indices;
  };
  EXPECT_EQ(refused(), std::vector<size_t>{lock});
  request.filter = elsewhere.pid();
  EXPECT_EQ(refused(), std::vector<size_t>{});  // the kernel reports nothing, which is the pitfall
  request.unmapped = true;
  EXPECT_EQ(refused(), std::vector<size_t>{lock});
}

}  // namespace
}  // namespace tracectl::on_kernel
