// SPDX-License-Identifier: BSD-2-Clause
//
// Proofs that a user may see a process: descriptors of its memory, which the kernel gives only to
// those who may trace the process. The engine itself checks what a descriptor is.
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <stdexcept>

#include "tests/support/users_file.h"

namespace tracectl::on_kernel {
namespace {

std::string of(const Program& program, const std::string& name) {
  return "/proc/" + std::to_string(program.pid()) + "/" + name;
}

Fd opened(const std::string& path, int flags = O_RDONLY) {
  return Fd{::open(path.c_str(), flags | O_CLOEXEC)};
}

class ProofsOfProcesses : public WithUsersFile {
 protected:
  void SetUp() override {
    WithUsersFile::SetUp();
    if (IsSkipped()) return;
    create_for(user(), "s");
    set("s", probe("changes_step"), everybody(), "count");
  }

  // Runs it like a client that has opened nothing.
  std::unique_ptr<Program> run_unproven(const std::string& name,
                                        std::vector<std::string> words = {}) {
    words.insert(words.begin(), {"--reuid=4001", "--regid=4001", "--clear-groups", name});
    return std::make_unique<Program>("/usr/bin/setpriv", words);
  }
  std::unique_ptr<Program> run_unproven() { return run_unproven(path_); }

  // The processes that the descriptor proves, for the session.
  std::vector<pid_t> proven_by(const Fd& descriptor, const std::string& session = "s") {
    const int number = descriptor.get();
    EXPECT_GE(number, 0);
    return must(engine->proofs().prove({&number, 1}, session)).processes;
  }

  uint64_t seen_of(Program& program, const std::string& session = "s") {
    const uint64_t before = read(session).totals.hits;
    say(program, "call 10");
    return read(session).totals.hits - before;
  }
};

TEST_F(ProofsOfProcesses, WithoutOneAProcessIsLeftOutAndCounted) {
  const auto program = run_unproven();
  EXPECT_EQ(seen_of(*program), 0u);
  EXPECT_EQ(seen_of(*program), 0u);
  const auto told = must(engine->proofs().prove({}, "s"));
  EXPECT_TRUE(told.needed);
  EXPECT_EQ(told.unproven.processes, 1u);
  EXPECT_EQ(told.unproven.hits, 20u);
  EXPECT_TRUE(told.wanted.empty()) << "notices have not been taken";
  engine->notices().take();
  EXPECT_EQ(must(engine->proofs().prove({}, "s")).wanted, std::vector<pid_t>{program->pid()});
  EXPECT_TRUE(must(engine->proofs().prove({}, "s")).wanted.empty()) << "it has been told";
  Target by_number;
  by_number.pids = {program->pid()};
  const auto refused = stage("s", "uprobe::changes_step", by_number, "count");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::denied);
  EXPECT_TRUE(names(refused.error().message, "/mem")) << refused.error().message;
}

TEST_F(ProofsOfProcesses, AreDescriptorsOfTheMemory) {
  const auto program = run_unproven();
  EXPECT_EQ(proven_by(opened(of(*program, "mem"))), std::vector<pid_t>{program->pid()});
  EXPECT_EQ(seen_of(*program), 10u);
}

TEST_F(ProofsOfProcesses, AreAlsoThoseOfItsThreads) {
  const auto program = run_unproven();
  const std::string thread = of(*program, "task/" + std::to_string(program->pid()) + "/mem");
  EXPECT_EQ(proven_by(opened(thread)), std::vector<pid_t>{program->pid()});
}

// `environ` and `auxv` have the same memory, but can be opened with the right to read it only.
TEST_F(ProofsOfProcesses, AreNoOtherDescriptors) {
  const auto program = run_unproven();
  for (const char* name : {"environ", "auxv", "maps", "stat", "exe", "cwd", "pagemap"}) {
    SCOPED_TRACE(name);
    EXPECT_TRUE(proven_by(opened(of(*program, name))).empty());
  }
  EXPECT_TRUE(proven_by(opened(of(*program, "mem"), O_WRONLY)).empty());
  EXPECT_TRUE(proven_by(opened(of(*program, "mem"), O_PATH)).empty());
  EXPECT_TRUE(
      proven_by(Fd{static_cast<int>(::syscall(SYS_pidfd_open, program->pid(), 0))}).empty());
  const auto folder =
      std::filesystem::temp_directory_path() / ("proof-" + std::to_string(::getpid()));
  std::filesystem::create_directory(folder);
  std::ofstream(folder / "mem") << "mem";
  EXPECT_TRUE(proven_by(opened(folder / "mem")).empty());
  std::filesystem::remove_all(folder);
  EXPECT_EQ(seen_of(*program), 0u);
}

// In a mount namespace of its own, any user can mount another file there. Held until the descriptor
// is closed.
struct ElsewhereMounted {
  ElsewhereMounted(const std::string& file, const std::string& at) {
    int ready[2];
    if (::pipe(ready) != 0) throw std::runtime_error("pipe");
    child = ::fork();
    if (child == 0) {
      const bool done = ::unshare(CLONE_NEWNS) == 0 &&
                        ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
                        ::mount(file.c_str(), at.c_str(), nullptr, MS_BIND, nullptr) == 0;
      if (!done || ::write(ready[1], "", 1) != 1) ::_exit(1);
      ::pause();
    }
    ::close(ready[1]);
    char byte = 0;
    is_there = ::read(ready[0], &byte, 1) == 1;
    ::close(ready[0]);
  }
  ~ElsewhereMounted() {
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
  }
  ElsewhereMounted(const ElsewhereMounted&) = delete;
  ElsewhereMounted& operator=(const ElsewhereMounted&) = delete;

  pid_t child = -1;
  bool is_there = false;
};

TEST_F(ProofsOfProcesses, DoNotGoByTheLink) {
  const auto program = run_unproven();
  const auto another = run_unproven();
  const ElsewhereMounted mounted(of(*another, "environ"), of(*program, "mem"));
  ASSERT_TRUE(mounted.is_there);
  const Fd forged =
      opened("/proc/" + std::to_string(mounted.child) + "/root" + of(*program, "mem"));
  char link[64] = {};
  ASSERT_GT(::readlink(("/proc/self/fd/" + std::to_string(forged.get())).c_str(), link, 63), 0);
  EXPECT_EQ(std::filesystem::path(link).filename(), "mem") << "as user space sees it";
  EXPECT_TRUE(proven_by(forged).empty());
}

// Its device and inode are of another procfs instance than this process's.
TEST_F(ProofsOfProcesses, AreOfAnyInstanceOfProcfs) {
  const auto program = run_unproven();
  const std::string place =
      std::filesystem::temp_directory_path() / ("proc-" + std::to_string(::getpid()));
  std::filesystem::create_directory(place);
  ASSERT_EQ(::mount("proc", place.c_str(), "proc", 0, "hidepid=invisible"), 0);
  const auto proven = proven_by(opened(place + "/" + std::to_string(program->pid()) + "/mem"));
  EXPECT_EQ(::umount2(place.c_str(), MNT_DETACH), 0);
  std::filesystem::remove(place);
  EXPECT_EQ(proven, std::vector<pid_t>{program->pid()});
}

TEST_F(ProofsOfProcesses, EndWithAnExec) {
  const auto program = run_unproven();
  const Fd before = opened(of(*program, "mem"));
  EXPECT_EQ(proven_by(before).size(), 1u);
  EXPECT_EQ(seen_of(*program), 10u);
  program->send("exec " + path_);
  say(*program, "dumpable 1");
  EXPECT_EQ(seen_of(*program), 0u);
  EXPECT_TRUE(proven_by(before).empty()) << "it is of the memory that was there before";
  EXPECT_EQ(seen_of(*program), 0u);
  EXPECT_EQ(proven_by(opened(of(*program, "mem"))).size(), 1u);
  EXPECT_EQ(seen_of(*program), 10u);
}

TEST_F(ProofsOfProcesses, GoOnToForks) {
  const std::string path = path_ + "-forker";
  std::filesystem::copy_file(target_path("forker"), path);
  ASSERT_EQ(::chown(path.c_str(), kUser, kUser), 0);
  must(engine->give_file("s", opened(path), path));
  set("s", "uprobe:" + path + ":work", everybody(), "count by pid");
  for (const auto& [mode, children] :
       std::vector<std::pair<std::string, size_t>>{{"fork", 3}, {"exec", 0}}) {
    SCOPED_TRACE(mode);
    const auto program = run_unproven(path, {mode, "3", "10"});
    EXPECT_EQ(proven_by(opened(of(*program, "mem"))).size(), 1u);
    const auto before = must(engine->counting().read("s", true));
    program->run();
    EXPECT_EQ(sum(read("s")), 10 * children);
  }
  EXPECT_EQ(must(engine->proofs().prove({}, "s")).unproven.processes, 3u);
  std::filesystem::remove(path);
}

// A user with many short-lived processes must not fill the ring through which others are reported.
TEST_F(ProofsOfProcesses, AreAskedForOfFewProcessesAtATime) {
  const std::string path = path_ + "-forker";
  std::filesystem::copy_file(target_path("forker"), path);
  ASSERT_EQ(::chown(path.c_str(), kUser, kUser), 0);
  must(engine->give_file("s", opened(path), path));
  set("s", "uprobe:" + path + ":work", everybody(), "count");
  const auto program = run_unproven(path, {"exec", "100", "1"});
  program->run();
  engine->notices().take();
  const auto told = must(engine->proofs().prove({}, "s"));
  EXPECT_EQ(told.unproven.processes, 100u);
  EXPECT_EQ(told.wanted.size(), size_t{TC_MOST_UNPROVEN_REPORTED});
  const auto another = run_unproven(path, {"exec", "3", "1"});
  another->run();
  engine->notices().take();
  EXPECT_EQ(must(engine->proofs().prove({}, "s")).wanted.size(), 3u);
  std::filesystem::remove(path);
}

TEST_F(ProofsOfProcesses, AreToOneSession) {
  create_for(user(), "t");
  set("t", probe("changes_step"), everybody(), "count");
  const auto program = run_unproven();
  EXPECT_EQ(proven_by(opened(of(*program, "mem")), "t").size(), 1u);
  EXPECT_EQ(seen_of(*program, "s"), 0u);
  EXPECT_EQ(seen_of(*program, "t"), 10u);
  must(engine->delete_session("t"));
  create_for(user(), "u");  // gets the number of t
  set("u", probe("changes_step"), everybody(), "count");
  EXPECT_EQ(seen_of(*program, "u"), 0u);
}

TEST_F(ProofsOfProcesses, MakeNobodyElsesProcessSeen) {
  Program program("/usr/bin/setpriv", {"--reuid=4002", "--regid=4002", "--clear-groups", path_});
  EXPECT_EQ(proven_by(opened(of(program, "mem"))).size(), 1u) << "its owner can pass it on";
  EXPECT_EQ(seen_of(program), 0u);
  EXPECT_EQ(must(engine->proofs().prove({}, "s")).unproven.hits, 0u) << "it is not told of either";
}

// Only the descriptors that the client sent are checked.
TEST_F(ProofsOfProcesses, AreWhatIsAskedForOnly) {
  const auto program = run_unproven();
  const auto another = run_unproven();
  const Fd anothers = opened(of(*another, "mem"));
  EXPECT_EQ(proven_by(opened(of(*program, "mem"))), std::vector<pid_t>{program->pid()});
  EXPECT_EQ(seen_of(*another), 0u);
}

TEST_F(ProofsOfProcesses, AreNotNeededByWhoMayTraceAll) {
  create("all");
  set("all", probe("changes_step"), everybody(), "count");
  EXPECT_FALSE(must(engine->proofs().prove({}, "all")).needed);
  const auto program = run_unproven();
  EXPECT_EQ(seen_of(*program, "all"), 10u);
}

}  // namespace
}  // namespace tracectl::on_kernel
