// SPDX-License-Identifier: BSD-2-Clause
//
// A failed commit changes nothing: the settings in force before it stay in force, without a gap,
// and the error names the cause.
#include <sys/resource.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>

#include "tests/support/other_tracer.h"
#include "tests/support/tracer.h"

namespace tracectl::on_kernel {
namespace {

class FailingCommits : public KernelTest {
 protected:
  void SetUp() override {
    KernelTest::SetUp();
    if (IsSkipped()) return;
    create("s");
    set("s", "uprobe::f00*", process(program.pid()), "count");
    before = armed_sites();
    program.send("go");
  }

  // A site that was hit differs from the file in more bytes than its first.
  std::vector<uint64_t> armed_sites() const {
    std::vector<uint64_t> sites;
    uint64_t last = 0;
    for (const uint64_t offset : changed_code(program.pid(), program.path())) {
      if (offset != last + 1) sites.push_back(offset);
      last = offset;
    }
    return sites;
  }

  // The first spec that needs the table makes it, and it stays.
  void make_table_of_counts(const Program& any) {
    create("keys");
    must(stage("keys", "uprobe::m00001", process(any.pid()), "count by arg0"));
    must(engine->commits().commit("keys", {}));
    must(engine->delete_session("keys"));
  }

  // The old settings stayed in force, without a gap, and no site came or went. What was staged
  // before the failure neither comes into force with the next commit, nor keeps entries of tables.
  void expect_nothing_changed() {
    create("next");
    must(engine->commits().commit("next", {}));
    EXPECT_EQ(armed_sites(), before);
    const uint64_t counted = calls(read("s", true));
    program.send("stop");
    const auto said = parsed(program.finish());
    EXPECT_EQ(counted + calls(read("s")), said["total"].get<uint64_t>());
  }

  // The calls of the program's functions, without other counts of the session.
  uint64_t calls(const Results& results) const {
    uint64_t total = 0;
    for (const auto& [key, row] : results.rows)
      if (names(key.probe, program.path())) total += row.count;
    return total;
  }

  Program program{"counters", {"2", "0", "100"}};
  std::vector<uint64_t> before;
};

TEST_F(FailingCommits, OneRefusedSiteAmongTenThousand) {
  Program many("many", {}), refused("refused", {"1"});
  must(stage("s", "uprobe::m*[0-9]", process(many.pid()), "count"));
  must(stage("s", "uprobe::refused_lock", process(refused.pid()), "count"));
  const auto failed = engine->commits().commit("s", {});
  ASSERT_FALSE(failed);
  EXPECT_NE(failed.error().message.find("refused_lock"), std::string::npos);
  EXPECT_TRUE(changed_code(many.pid(), many.path()).empty());
  expect_nothing_changed();
}

TEST_F(FailingCommits, TheTargetEndsBeforeItsCommit) {
  auto many = std::make_unique<Program>("many", std::vector<std::string>{});
  const pid_t pid = many->pid();
  must(stage("s", "uprobe::m*[0-9]", process(pid), "count"));
  many.reset();
  const auto failed = engine->commits().commit("s", {});
  ASSERT_FALSE(failed);
  EXPECT_NE(failed.error().message.find(std::to_string(pid)), std::string::npos)
      << failed.error().message;
  expect_nothing_changed();
}

class DescriptorLimit {
 public:
  // Room for `more` further descriptors.
  explicit DescriptorLimit(int more) {
    ::getrlimit(RLIMIT_NOFILE, &before_);
    const Fd next{::dup(0)};
    rlimit lower = before_;
    lower.rlim_cur = static_cast<rlim_t>(next.get() + more);
    ::setrlimit(RLIMIT_NOFILE, &lower);
  }
  ~DescriptorLimit() { ::setrlimit(RLIMIT_NOFILE, &before_); }

 private:
  rlimit before_{};
};

// Commits the session "s" with room for ever more descriptors, until they are enough. Calls
// `failed` with the error of each failed commit.
template <class OnFailure>
void commit_with_ever_more_descriptors(Engine& engine, OnFailure failed) {
  constexpr int kEnough = 300;  // more than all maps of the programs need
  for (int more = 0; more < kEnough; ++more) {
    const auto committed = [&] {
      const DescriptorLimit limit(more);
      return engine.commits().commit("s", {});
    }();
    if (committed) return;
    failed(committed.error());
  }
  ADD_FAILURE() << "no number of descriptors was enough";
}

TEST_F(FailingCommits, DescriptorsRunOutAtAnyMoment) {
  Program many("many", {});
  must(stage("s", "uprobe::m0000*", process(many.pid()), "event"));
  int failures = 0;
  commit_with_ever_more_descriptors(*engine, [&](const Error&) {
    ++failures;
    EXPECT_TRUE(changed_code(many.pid(), many.path()).empty());
  });
  EXPECT_GT(failures, 3);
  expect_nothing_changed();
}

TEST_F(FailingCommits, DescriptorsRunOutAtAnyMomentOfMakingATableOfKeys) {
  Program many("many", {});
  must(stage("s", "uprobe::m0000*", process(many.pid()), "sum(arg0)"));
  int failures = 0;
  commit_with_ever_more_descriptors(*engine, [&](const Error& error) {
    failures += names(error.message, "make the table of");
    EXPECT_TRUE(changed_code(many.pid(), many.path()).empty());
  });
  EXPECT_GT(failures, 0);
  expect_nothing_changed();
}

size_t open_descriptors() {
  const std::filesystem::directory_iterator all("/proc/self/fd");
  return static_cast<size_t>(std::distance(begin(all), end(all)));
}

bool is_of_loading(const Error& error) {
  return names(error.message, "the BPF programs") || names(error.message, "share the table");
}

// The programs that sleep are loaded by the first commit that needs them, after it has armed
// others, and are then kept.
TEST_F(FailingCommits, DescriptorsRunOutAtAnyMomentOfLoadingProgramsThatSleep) {
  const std::string file = test_folder() + "/failing-pages";
  Program many("many", {}), absent("absent", {file, "1", "1"});
  std::filesystem::remove(file);
  make_table_of_counts(many);
  must(stage("s", "uprobe::m0000*", process(many.pid()), "count"));
  must(stage("s", "usdt::absent:file", process(absent.pid()), "count by str(arg0)"));
  const size_t open_before = open_descriptors();
  int failures = 0;
  commit_with_ever_more_descriptors(*engine, [&](const Error& error) {
    EXPECT_TRUE(changed_code(many.pid(), many.path()).empty());
    EXPECT_TRUE(changed_code(absent.pid(), absent.path()).empty());
    if (!is_of_loading(error)) return;
    ++failures;
    EXPECT_EQ(open_descriptors(), open_before) << error.message;
  });
  EXPECT_GT(failures, 3);
  expect_nothing_changed();
}

// Takes all numbers of a table but so many, as the sites of others would.
void leave(const IdPool& table, uint32_t left) {
  auto& ids = const_cast<IdPool&>(table);
  while (ids.limit() - ids.end() > left) ids.take();
}

TEST_F(FailingCommits, TheTableOfHooksIsFull) {
  Program many("many", {});
  leave(engine->slots().hook_ids, 65'536);
  const auto target = process(many.pid());
  std::optional<Error> full;
  for (int i = 0; !full && i < 20; ++i) {
    const std::string name = "filler-" + std::to_string(i);
    create(name);
    must(stage(name, "uprobe::m*[0-9]", target, "count"));
    if (auto committed = engine->commits().commit(name, {}); !committed) full = committed.error();
  }
  ASSERT_TRUE(full);
  EXPECT_EQ(full->code, Code::exhausted) << full->message;
  must(stage("s", "uprobe::m*[0-9]", target, "count"));
  EXPECT_FALSE(engine->commits().commit("s", {}));
  expect_nothing_changed();
}

// ---- no room left ----

TEST_F(FailingCommits, TheTableOfSitesIsFull) {
  const Program many("many", {});  // with ten thousand sites
  leave(engine->slots().slot_ids, 9'999);
  must(stage("s", "uprobe::m*[0-9]", process(many.pid()), "count"));
  const auto failed = engine->commits().commit("s", {});
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().code, Code::exhausted);
  EXPECT_TRUE(names(failed.error().message, "armed sites")) << failed.error().message;
  EXPECT_TRUE(changed_code(many.pid(), many.path()).empty());
  expect_nothing_changed();
}

TEST_F(FailingCommits, TheTableOfCountersIsFull) {
  const Program many("many", {});
  const std::string all = "uprobe:" + many.path() + ":m*[0-9]";
  Target everybody;
  everybody.all = true;
  leave(engine->slots().stat_ids, 19'999);
  // Both settings share their sites, which need counters for the process and for the rest.
  must(stage("s", all, everybody, "count"));
  must(stage("s", all, process(many.pid()), "count"));
  const auto failed = engine->commits().commit("s", {});
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().code, Code::exhausted);
  EXPECT_TRUE(names(failed.error().message, "counters")) << failed.error().message;
  EXPECT_TRUE(changed_code(many.pid(), many.path()).empty());
  expect_nothing_changed();
}

uint64_t address_space_bytes() {
  uint64_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  return pages * static_cast<uint64_t>(::sysconf(_SC_PAGESIZE));
}

class AddressSpaceLimit {
 public:
  // Room for `more` further bytes.
  explicit AddressSpaceLimit(uint64_t more) {
    ::getrlimit(RLIMIT_AS, &before_);
    rlimit lower = before_;
    lower.rlim_cur = address_space_bytes() + more;
    ::setrlimit(RLIMIT_AS, &lower);
  }
  ~AddressSpaceLimit() { ::setrlimit(RLIMIT_AS, &before_); }

 private:
  rlimit before_{};
};

// From room for small allocations only to room for the rings of every CPU.
TEST_F(FailingCommits, AddressSpaceRunsOutWhileRingsAreMapped) {
  Program forker("forker", {"fork", "1", "1"});  // arming its function takes no address space
  must(stage("s", "uprobe::work", process(forker.pid()), "event"));
  const uint64_t ring = engine->options().ring_bytes;
  int failures = 0;
  for (uint64_t more = ring / 2;; more += ring) {
    const auto committed = [&] {
      const AddressSpaceLimit limit(more);
      return engine->commits().commit("s", {});
    }();
    if (committed) break;
    ++failures;
    EXPECT_TRUE(names(committed.error().message, "map ")) << committed.error().message;
    EXPECT_EQ(engine->streams().rings_open(), 0u);
    EXPECT_TRUE(changed_code(forker.pid(), forker.path()).empty());
  }
  EXPECT_GE(failures, 2);
  expect_nothing_changed();
}

// ---- another tracer ----

// Two tracers can share a site only if both use the same semaphore, or none.
class AnotherTracer : public FailingCommits {
 protected:
  static constexpr uint64_t kRounds = 1000;

  Site site(const char* pattern) {
    const auto found =
        must(engine->list({must(parse_pattern(pattern))}, process(traced.pid()), {}));
    return found.parts.at(0).probes->at(0).sites.at(0);
  }
  // At a probe without a semaphore, but with the semaphore of another probe.
  OtherTracer at_none() {
    return {traced.pid(), traced.path(), site("usdt::all:none").offset,
            site("usdt::all:guarded").semaphore};
  }
  OtherTracer at_guarded() {
    return {traced.pid(), traced.path(), site("usdt::all:guarded").offset, 0};
  }
  std::vector<uint64_t> code() const { return changed_code(traced.pid(), traced.path()); }

  // The same commit also replaces the settings in force.
  void stage_with(const char* pattern) {
    must(stage("s", "uprobe::f00*", process(program.pid()), "count by tid"));
    must(stage("s", pattern, process(traced.pid()), "count"));
  }
  void expect_refusal(const char* pattern, const std::string& probe) {
    const auto theirs = code();
    EXPECT_FALSE(theirs.empty());
    stage_with(pattern);
    const auto failed = engine->commits().commit("s", {.strict = true});
    ASSERT_FALSE(failed);
    EXPECT_TRUE(names(failed.error().message, probe)) << failed.error().message;
    EXPECT_TRUE(names(failed.error().message, "another tracer")) << failed.error().message;
    EXPECT_EQ(code(), theirs);
  }
  // The counts of all probes, except `left_out` of them.
  void expect_counts(const nlohmann::json& said, size_t left_out) {
    std::map<std::string, uint64_t> counts;
    for (const auto& [key, row] : read("s").rows)
      if (names(key.probe, traced.path())) counts[function_of(key.probe)] = row.count;
    EXPECT_EQ(counts.size(), said["probes"].size() - left_out);
    for (const auto& [name, count] : counts)
      EXPECT_EQ(count, said["probes"][name]["hits"].get<uint64_t>()) << name;
  }

  Program traced{"usdt_all", {std::to_string(kRounds)}};
};

TEST_F(AnotherTracer, WithAnotherSemaphoreIsNamedAndLeftAlone) {
  {
    const OtherTracer other = at_none();
    expect_refusal("usdt::all:*", "all:none");
    EXPECT_EQ(parsed(traced.run())["semaphore"], 1);
    EXPECT_EQ(other.hits(), kRounds);
  }
  EXPECT_TRUE(code().empty());
  expect_nothing_changed();
}

TEST_F(AnotherTracer, WithAnotherSemaphoreIsNamedAlsoWhereNoneWasWanted) {
  const OtherTracer other = at_none();
  expect_refusal("usdt::all:none", "all:none");
  expect_nothing_changed();
}

TEST_F(AnotherTracer, WithoutTheSemaphoreIsNamed) {
  const OtherTracer other = at_guarded();
  expect_refusal("usdt::all:guarded", "all:guarded");
  expect_nothing_changed();
}

TEST_F(AnotherTracer, IsInTheWayNoLongerThanItIsThere) {
  {
    const OtherTracer other = at_none();
    expect_refusal("usdt::all:*", "all:none");
  }
  must(engine->commits().commit("s", {}));
  expect_counts(parsed(traced.run()), 0);
  expect_nothing_changed();
}

TEST_F(AnotherTracer, FailsAGlobOfWhichItLeavesNothing) {
  const OtherTracer other = at_none();
  stage_with("usdt::all:non*");
  const auto failed = engine->commits().commit("s", {});
  ASSERT_FALSE(failed);
  EXPECT_TRUE(names(failed.error().message, "all:none")) << failed.error().message;
}

TEST_F(AnotherTracer, IsLeftOutOfAGlob) {
  const OtherTracer other = at_none();
  stage_with("usdt::all:*");
  const auto commit = must(engine->commits().commit("s", {}));
  ASSERT_EQ(commit.refused.size(), 1u);
  EXPECT_EQ(function_of(commit.refused[0].probe), "none");
  EXPECT_TRUE(names(commit.refused[0].reason, "another tracer")) << commit.refused[0].reason;
  const auto said = parsed(traced.run());
  EXPECT_EQ(said["semaphore"], 2);
  expect_counts(said, 1);
  EXPECT_EQ(other.hits(), kRounds);
  expect_nothing_changed();
}

}  // namespace
}  // namespace tracectl::on_kernel
