// SPDX-License-Identifier: BSD-2-Clause
//
// Children of a target, compared with the calls that tests/targets/forker.c requests from them, and
// names of cgroups.
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <set>

#include "daemon/process/cgroups.h"
#include "tests/support/tracer.h"

namespace tracectl::on_kernel {
namespace {

class Following : public KernelTest {
 protected:
  static Target family(const Program& program, Follow follow) {
    Target target = process(program.pid());
    target.follow = follow;
    return target;
  }
  static std::set<pid_t> pids(const Results& results) {
    std::set<pid_t> pids;
    for (const auto& [key, row] : results.rows)
      if (row.count) pids.insert(pid_of(key));
    return pids;
  }
};

TEST_F(Following, ChildrenForkedLaterAreCountedFromTheirFirstInstruction) {
  Program program("forker", {"fork", "40", "100"}), bystander("forker", {"fork", "3", "100"});
  create("s");
  create("without");
  set("s", "uprobe::work", family(program, Follow::children), "count by pid");
  set("without", "uprobe::work", process(program.pid()), "count by pid");
  EXPECT_EQ(parsed(program.run())["failed"], 0);
  EXPECT_EQ(parsed(bystander.run())["failed"], 0);
  EXPECT_EQ(sum(read("s")), 4000u);
  EXPECT_EQ(pids(read("s")).size(), 40u);
  EXPECT_EQ(read("s").totals.hits, 4000u);
  EXPECT_EQ(sum(read("without")), 0u);
  must(engine->delete_session("s"));
  must(engine->delete_session("without"));
  EXPECT_TRUE(changed_code(program.pid(), program.path()).empty());
  EXPECT_TRUE(changed_code(bystander.pid(), bystander.path()).empty());
}

TEST_F(Following, OfTheFirstChildLeavesTheOthersOut) {
  Program program("forker", {"fork", "40", "100"});
  create("s");
  set("s", "uprobe::work", family(program, Follow::first_child), "count by pid");
  EXPECT_EQ(parsed(program.run())["failed"], 0);
  EXPECT_EQ(sum(read("s")), 100u);
  EXPECT_EQ(pids(read("s")).size(), 1u);
}

// Each session has its own first child, the first one after its begin.
TEST_F(Following, TheFirstChildOfOneSessionTakesNothingFromAnother) {
  Program program("forker", {"fork", "4", "100"});
  for (const char* session : {"a", "b"}) {
    create(session);
    set(session, "uprobe::work", family(program, Follow::first_child), "count by pid");
  }
  program.run();
  EXPECT_EQ(sum(read("a")), 100u);
  EXPECT_EQ(sum(read("b")), 100u);
}

TEST_F(Following, GoesOnWhereAChildExecutesTheSameFile) {
  Program program("forker", {"exec", "10", "100"});
  create("s");
  set("s", "uprobe::work", family(program, Follow::children), "count by pid");
  EXPECT_EQ(parsed(program.run())["failed"], 0);
  EXPECT_EQ(sum(read("s")), 1000u);
}

// A shell is another program, and what it executes does not belong to the target any more.
TEST_F(Following, EndsWhereAChildExecutesAnother) {
  const std::string script =
      std::filesystem::temp_directory_path() / ("follow-" + std::to_string(::getpid()) + ".sh");
  std::ofstream(script) << "#!/bin/sh\nexec " << target_path("forker") << " \"$@\"\n";
  ASSERT_EQ(::chmod(script.c_str(), 0700), 0);
  Program program("forker", {"exec", "5", "100", script});
  create("s");
  create("all");
  set("s", "uprobe::work", family(program, Follow::children), "count by pid");
  Target everybody;
  everybody.executables = {program.path()};
  set("all", "uprobe::work", everybody, "count by pid");
  EXPECT_EQ(parsed(program.run())["failed"], 0);
  std::filesystem::remove(script);
  EXPECT_EQ(sum(read("all")), 500u);
  EXPECT_EQ(sum(read("s")), 0u);
}

// Two processes of one file, each with children, in separate sessions.
TEST_F(Following, FamiliesAreApart) {
  Program first("forker", {"fork", "7", "100"}), second("forker", {"fork", "5", "100"});
  create("first");
  create("second");
  create("both");
  set("first", "uprobe::work", family(first, Follow::children), "count");
  set("second", "uprobe::work", family(second, Follow::children), "count");
  set("both", "uprobe::work", family(first, Follow::children), "count");
  set("both", "uprobe::work", family(second, Follow::children), "count");
  first.run();
  second.run();
  EXPECT_EQ(sum(read("first")), 700u);
  EXPECT_EQ(sum(read("second")), 500u);
  EXPECT_EQ(sum(read("both")), 1200u);
}

// Numbers of sets are used again, and nothing of their last use remains.
TEST_F(Following, SetsThatEndAreEmpty) {
  Program program("forker", {"fork", "3", "100"}), other("forker", {"fork", "3", "100"});
  create("s");
  constexpr size_t kSets = TC_MAX_SET_TARGETS + 2;
  for (size_t i = 0; i < kSets; ++i) {
    const bool is_last = i + 1 == kSets;
    set("s", "uprobe::work", family(is_last ? other : program, Follow::children),
        i % 2 ? "count" : "count by pid");
    if (is_last) break;
    must(engine->drafts().remove("s", {must(parse_pattern("uprobe::work"))}, std::nullopt));
    must(engine->commits().commit("s", {}));
  }
  program.run();
  EXPECT_EQ(sum(read("s")), 0u);
  other.run();
  EXPECT_EQ(sum(read("s")), 300u);
}

// ---- names of cgroups ----

// A tree of cgroups, which the destructor removes.
class CgroupTree {
 public:
  explicit CgroupTree(const std::string& mount)
      : root_(mount + "/tracectl-test-" + std::to_string(::getpid())) {}
  ~CgroupTree() {
    for (auto it = made_.rbegin(); it != made_.rend(); ++it) ::rmdir(it->c_str());
  }
  void add(const std::string& path) {
    std::filesystem::path at = root_;
    make(at);
    for (const auto& part : std::filesystem::path(path)) make(at /= part);
  }
  void move(pid_t pid, const std::string& path) const {
    std::ofstream(root_ / path / "cgroup.procs") << pid << std::flush;
  }

 private:
  void make(const std::filesystem::path& path) {
    if (std::filesystem::create_directory(path)) made_.push_back(path);
  }

  std::filesystem::path root_;
  std::vector<std::string> made_;
};

std::string mount_of_cgroups() {
  std::ifstream file("/proc/self/mountinfo");
  return cgroup2_mount(std::string(std::istreambuf_iterator<char>(file), {})).value_or("");
}

using Cgroups = KernelTest;

TEST_F(Cgroups, AreNamedByUnitAndContainerAndRememberedWhenTheyAreGone) {
  const std::string mount = mount_of_cgroups();
  ASSERT_FALSE(mount.empty());
  const std::string id(64, 'a');
  auto tree = std::make_unique<CgroupTree>(mount);
  tree->add("x.service/one");
  tree->add("x.service/two");
  tree->add("docker-" + id + ".scope");
  create("s");
  std::vector<std::unique_ptr<Program>> programs;
  for (const std::string& at :
       {std::string("x.service/one"), std::string("x.service/two"), "docker-" + id + ".scope"}) {
    auto& program = programs.emplace_back(
        std::make_unique<Program>("counters", std::vector<std::string>{"1", "10", "1"}));
    tree->move(program->pid(), at);
    set("s", "uprobe::f0000", process(program->pid()), "count by unit, count by container, pid");
    program->run();
  }
  const auto expect = [&] {
    std::map<std::string, uint64_t> units, containers;
    for (const auto& [key, row] : read("s").rows) {
      const auto& name = std::get<std::string>(key.by.at(0).value);
      (key.by.size() == 1 ? units : containers)[name] += row.count;
      if (key.by.size() == 1) {
        EXPECT_EQ(key.by[0].name, "unit");
      }
    }
    EXPECT_EQ(units, (std::map<std::string, uint64_t>{{"x.service", 20},
                                                      {"docker-" + id + ".scope", 10}}));
    EXPECT_EQ(containers.at("aaaaaaaaaaaa"), 10u);
    EXPECT_EQ(containers.size(), 3u);  // and the paths of two that are none
  };
  expect();
  programs.clear();
  tree.reset();
  expect();
}

// ---- targets by cgroup ----

Target in_cgroup(const std::string& path) {
  Target target;
  target.cgroups = {path};
  return target;
}

class InCgroups : public KernelTest {
 protected:
  void SetUp() override {
    KernelTest::SetUp();
    mount_ = mount_of_cgroups();
    ASSERT_FALSE(mount_.empty());
    tree_ = std::make_unique<CgroupTree>(mount_);
    tree_->add("a/x");
    path_ = "/tracectl-test-" + std::to_string(::getpid()) + "/a";
  }
  // A program that ends before its cgroups are removed.
  Program& started(const std::string& cgroup) {
    auto& program = programs_.emplace_back(
        std::make_unique<Program>("counters", std::vector<std::string>{"1", "10", "1"}));
    tree_->move(program->pid(), cgroup);
    return *program;
  }

  std::string mount_, path_;
  std::unique_ptr<CgroupTree> tree_;
  std::vector<std::unique_ptr<Program>> programs_;
};

TEST_F(InCgroups, TwoSessionsTakeHitsOfTheirOwnCgroupsOnly) {
  Program& of_both = started("a/x");
  Program& of_one = started("a");
  create("one");
  create("both");
  set("one", "uprobe::f0000", in_cgroup(path_), "count by pid");
  set("both", "uprobe::f0000", in_cgroup(path_ + "/x"), "count by pid");
  of_both.run();
  of_one.run();
  EXPECT_EQ(sum(read("one")), 20u);
  const auto below = read("both");
  ASSERT_EQ(below.rows.size(), 1u);
  EXPECT_EQ(pid_of(below.rows.begin()->first), of_both.pid());
}

TEST_F(InCgroups, OfTwoSettingsThatMeetTheLastStagedTakesWhatIsInBoth) {
  Program& of_both = started("a/x");
  Program& of_one = started("a");
  create("s");
  set("s", "uprobe::f0000", in_cgroup(path_), "count by pid");
  set("s", "uprobe::f0000", in_cgroup(path_ + "/x"), "count by cpu");
  of_both.run();
  of_one.run();
  std::map<std::string, uint64_t> counts;
  for (const auto& [key, row] : read("s").rows) counts[key.by.at(0).name] += row.count;
  EXPECT_EQ(counts, (std::map<std::string, uint64_t>{{"pid", 10}, {"cpu", 10}}));
}

TEST_F(InCgroups, NothingIsLeftOfASetThatEnds) {
  Program& program = started("a/x");
  create("s");
  set("s", "uprobe::f0000", in_cgroup(path_), "count");
  must(engine->delete_session("s"));
  EXPECT_EQ(engine->slots().by_id.size(), 0u);
  tree_->add("a/y");
  create("s");
  set("s", "uprobe::f0000", in_cgroup(path_ + "/y"), "count");
  program.run();
  EXPECT_EQ(sum(read("s")), 0u);
  EXPECT_TRUE(engine->notices().take().empty());
}

TEST_F(InCgroups, OfOthersAreTakenByNoJoinOfAUser) {
  started("a/x");
  must(engine->create_session("s", std::nullopt, Owner{.uid = 65534, .gid = 65534}));
  Target named;
  named.containers.names = {"web"};
  must(engine->drafts().set("s", {setting("uprobe:counters:f0000", named, "count")}));
  must(engine->commits().commit("s", {}));
  const NamedContainers found{.names = {"web"}, .cgroups = {path_}};
  EXPECT_FALSE(engine->following().join("s", found));
  EXPECT_TRUE(must(engine->sessions().find("s"))->cgroup_sets.empty());
}

TEST_F(Cgroups, ThatWereNeverLookedUpHaveTheirNumber) {
  CgroupNames names;
  EXPECT_EQ(names.path_of(1), "/");
  EXPECT_EQ(names.path_of(uint64_t{1} << 60), "cgroup 1152921504606846976");
}

}  // namespace
}  // namespace tracectl::on_kernel
