// SPDX-License-Identifier: BSD-2-Clause
//
// Sessions of users who may not trace every process: which hits of all processes that run a file
// they get. Each process below differs in one thing from a process of the user.
#include <fcntl.h>
#include <unistd.h>

#include "tests/support/users_file.h"

namespace tracectl::on_kernel {
namespace {

constexpr uint64_t kAllCapabilities = ~uint64_t{0};

class OwnersAccess : public WithUsersFile {
 protected:
  void trace_as(const Owner& owner, const std::string& function, const std::string& action) {
    create_for(owner, "s");
    set("s", probe(function), everybody(), action);
  }

  // The session's hits of 10 calls, made once the program's memory may be inspected.
  uint64_t seen_of(Program& program) {
    prove(program);
    const uint64_t before = read("s").totals.hits;
    say(program, "dumpable 1");
    say(program, "call 10");
    return read("s").totals.hits - before;
  }
};

TEST_F(OwnersAccess, IsToProcessesThatRunAsTheUser) {
  trace_as(user(kUser, kAllCapabilities), "changes_step", "event");
  const std::vector<std::pair<std::string, uint64_t>> cases{
      {"4001,4001,4001,4001,4001,4001", 10}, {"4002,4001,4001,4001,4001,4001", 0},
      {"4001,4002,4001,4001,4001,4001", 0},  {"4001,4001,4002,4001,4001,4001", 0},
      {"4001,4001,4001,4002,4001,4001", 0},  {"4001,4001,4001,4001,4002,4001", 0},
      {"4001,4001,4001,4001,4001,4002", 0}};
  for (const auto& [ids, expected] : cases) {
    SCOPED_TRACE(ids);
    Program program(path_, {});
    say(program, "ids " + ids);
    EXPECT_EQ(seen_of(program), expected);
  }
}

// The kernel's rule does not depend on supplementary groups.
TEST_F(OwnersAccess, IsToProcessesInWhateverGroups) {
  trace_as(user(), "changes_step", "event");
  const auto program = run_by({"--reuid=4001", "--regid=4001", "--groups=4002"});
  EXPECT_EQ(seen_of(*program), 10u);
}

TEST_F(OwnersAccess, IsToProcessesWithNoMoreCapabilities) {
  trace_as(user(), "changes_step", "event");
  const auto with = run_by({"--reuid=4001", "--regid=4001", "--clear-groups", "--inh-caps=+net_raw",
                            "--ambient-caps=+net_raw"});
  EXPECT_EQ(seen_of(*with), 0u);
  const auto without = run_by_user();
  EXPECT_EQ(seen_of(*without), 10u);
}

TEST_F(OwnersAccess, IsToProcessesOfTheSameUserNamespace) {
  trace_as(user(), "changes_step", "event");
  const auto program =
      run_by({"--reuid=4001", "--regid=4001", "--clear-groups", "unshare", "--user"});
  EXPECT_EQ(seen_of(*program), 0u);
}

TEST_F(OwnersAccess, FollowsWhatAProcessBecomes) {
  trace_as(user(), "changes_step", "event, count");
  Program program(path_, {});
  prove(program);
  say(program, "call 10");
  EXPECT_EQ(read("s").totals.hits, 0u) << "it is root's";
  say(program, "user 4001");
  say(program, "call 10");
  EXPECT_EQ(read("s").totals.hits, 0u) << "it has been root";
  EXPECT_EQ(seen_of(program), 10u);
  say(program, "dumpable 0");
  say(program, "call 10");
  EXPECT_EQ(read("s").totals.hits, 10u);
  EXPECT_EQ(sum(read("s")), 10u);
}

TEST_F(OwnersAccess, EndsWithinACall) {
  trace_as(user(), "changes_within", "return, count by retval");
  const auto program = run_by_user();
  say(*program, "within 1");
  say(*program, "within 0");
  say(*program, "call 1");
  EXPECT_EQ(sum(read("s")), 1u);
  say(*program, "dumpable 1");
  say(*program, "within 1");
  EXPECT_EQ(sum(read("s")), 2u);
}

// Another session still gets the hits that one user may not see.
TEST_F(OwnersAccess, OfOneSessionIsNothingToAnother) {
  trace_as(user(), "changes_step", "event");
  create("all");
  set("all", probe("changes_step"), everybody(), "event");
  Program program(path_, {});
  say(program, "call 10");
  EXPECT_EQ(read("s").totals.hits, 0u);
  EXPECT_EQ(read("all").totals.hits, 10u);
}

TEST_F(OwnersAccess, TakesTheUsersOwnFilesAndDescriptors) {
  must(engine->create_session("s", std::nullopt, user()));
  const auto not_given = stage("s", probe("changes_step"), everybody(), "event");
  ASSERT_FALSE(not_given);
  EXPECT_EQ(not_given.error().code, Code::denied);
  ASSERT_EQ(::chown(path_.c_str(), 0, 0), 0);
  must(engine->give_file("s", Fd{::open(path_.c_str(), O_RDONLY | O_CLOEXEC)}, path_));
  const auto not_own = stage("s", probe("changes_step"), everybody(), "event");
  ASSERT_FALSE(not_own);
  EXPECT_EQ(not_own.error().code, Code::denied);
  const auto not_read = engine->give_file("s", Fd{::open(path_.c_str(), O_PATH | O_CLOEXEC)}, "/x");
  ASSERT_FALSE(not_read);
  EXPECT_EQ(not_read.error().code, Code::invalid);
}

}  // namespace
}  // namespace tracectl::on_kernel
