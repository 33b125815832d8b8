// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/process/command.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "daemon/process/process.h"
#include "daemon/process/will_map.h"

namespace tracectl {
namespace {

class Folder {
 public:
  Folder() {
    char name[] = "/tmp/tracectl-command-XXXXXX";
    path_ = mkdtemp(name);
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  std::string operator/(const std::string& name) const { return path_ + "/" + name; }
  std::string file(const std::string& name, const std::string& text, mode_t mode) const {
    std::string path = *this / name;
    std::ofstream{path} << text;
    chmod(path.c_str(), mode);
    return path;
  }

 private:
  std::string path_;
};

bool ends_within(int pidfd, int milliseconds) {
  pollfd ended{.fd = pidfd, .events = POLLIN, .revents = 0};
  return poll(&ended, 1, milliseconds) == 1;
}

TEST(Command, WaitsUntilReleased) {
  Folder folder;
  auto command = Command::start({"touch", folder / "done"});
  ASSERT_TRUE(command);
  EXPECT_FALSE(std::filesystem::exists(folder / "done"));
  std::error_code error;
  EXPECT_EQ(
      std::filesystem::read_symlink("/proc/" + std::to_string(command->pid()) + "/exe", error),
      std::filesystem::read_symlink("/proc/self/exe"));
  ASSERT_TRUE(command->release());
  EXPECT_EQ(*command->wait(), (Ending{.exit_code = 0, .signal = {}}));
  EXPECT_EQ(*command->wait(), (Ending{.exit_code = 0, .signal = {}}));
  EXPECT_TRUE(std::filesystem::exists(folder / "done"));
  EXPECT_EQ(command->release().error().code, Code::invalid);
}

// The state of a process that a tracer has stopped: proc_pid_stat(5).
bool is_stopped_by_tracer(pid_t pid) {
  std::ifstream stat{"/proc/" + std::to_string(pid) + "/stat"};
  const std::string text{std::istreambuf_iterator<char>(stat), {}};
  return text.find(") t ") != std::string::npos;
}

TEST(Command, IsLookedAtBeforeItsProgramRuns) {
  Folder folder;
  auto command = Command::start({"touch", folder / "done"});
  ASSERT_TRUE(command);
  bool looked = false;
  ASSERT_TRUE(command->release([&] {
    looked = true;
    EXPECT_TRUE(is_stopped_by_tracer(command->pid()));
    EXPECT_EQ(std::filesystem::read_symlink("/proc/" + std::to_string(command->pid()) + "/exe"),
              std::filesystem::canonical(command->path()));
    EXPECT_FALSE(std::filesystem::exists(folder / "done"));
    return ok();
  }));
  EXPECT_TRUE(looked);
  EXPECT_EQ(*command->wait(), (Ending{.exit_code = 0, .signal = {}}));
  EXPECT_TRUE(std::filesystem::exists(folder / "done"));
}

TEST(Command, RunsAlsoWhereWhoLookedAtItHasFailed) {
  auto command = Command::start({"true"});
  ASSERT_TRUE(command);
  const auto released = command->release([]() -> Status { return Error{Code::busy, "no"}; });
  ASSERT_FALSE(released);
  EXPECT_EQ(released.error().code, Code::busy);
  EXPECT_EQ(*command->wait(), (Ending{.exit_code = 0, .signal = {}}));
}

TEST(Command, GetsSignalsThatComeBeforeItsProgramIsThere) {
  auto command = Command::start({"sleep", "1000"});
  ASSERT_TRUE(command);
  const pid_t pid = command->pid();
  bool looked = false;
  const auto released = command->release([&] {
    looked = true;
    ::kill(pid, SIGTERM);
    return ok();
  });
  EXPECT_TRUE(released);
  EXPECT_TRUE(looked);
  EXPECT_EQ(*command->wait(), (Ending{.exit_code = {}, .signal = SIGTERM}));
}

TEST(Command, ThatCannotBeExecutedIsLookedAtByNobody) {
  Folder folder;
  auto command = Command::start({folder.file("broken", "#!/no/such/interpreter\n", 0700)});
  ASSERT_TRUE(command);
  const auto released = command->release([]() -> Status {
    ADD_FAILURE();
    return ok();
  });
  EXPECT_FALSE(released);
}

// Under a tracer a setuid file would not get its rights.
TEST(Command, OfASetuidFileIsNotStopped) {
  Folder folder;
  const std::string path = folder / "sleep";
  std::filesystem::copy_file("/bin/sleep", path);
  ASSERT_EQ(::chmod(path.c_str(), 04755), 0);
  auto command = Command::start({path, "1000"});
  ASSERT_TRUE(command);
  ASSERT_TRUE(command->release([&] {
    EXPECT_FALSE(is_stopped_by_tracer(command->pid()));
    return ok();
  }));
  ASSERT_TRUE(command->terminate());
  EXPECT_TRUE(command->wait());
}

TEST(Command, GivesTheExitCodeOrTheSignal) {
  auto failing = Command::start({"sh", "-c", "exit 7"});
  ASSERT_TRUE(failing->release());
  EXPECT_EQ(*failing->wait(), (Ending{.exit_code = 7, .signal = {}}));
  auto sleeping = Command::start({"sleep", "1000"});
  ASSERT_TRUE(sleeping->release());
  ASSERT_TRUE(sleeping->terminate());
  EXPECT_EQ(*sleeping->wait(), (Ending{.exit_code = {}, .signal = SIGTERM}));
}

TEST(Command, OneNotReleasedDiesWithItsObject) {
  pid_t pid = 0;
  {
    auto command = Command::start({"sleep", "1000"});
    ASSERT_TRUE(command);
    pid = command->pid();
  }
  EXPECT_EQ(waitpid(pid, nullptr, WNOHANG), -1);  // it was waited for
}

TEST(Command, OneReleasedOutlivesItsObject) {
  Result<Process> process = Error{};
  {
    auto command = Command::start({"sleep", "1000"});
    process = Process::open(command->pid());
    ASSERT_TRUE(command->release());
  }
  ASSERT_TRUE(process);
  EXPECT_TRUE(*process->alive());
  kill(process->pid(), SIGKILL);
  waitpid(process->pid(), nullptr, 0);
}

TEST(Command, OneNotReleasedDiesWithItsParent) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  pid_t parent = fork();
  if (parent == 0) {
    auto command = Command::start({"sleep", "1000"});
    pid_t pid = command->pid();
    if (write(ends[1], &pid, sizeof pid) < 0) _exit(1);
    for (;;) pause();
  }
  pid_t child = 0;
  ASSERT_EQ(read(ends[0], &child, sizeof child), static_cast<ssize_t>(sizeof child));
  auto process = Process::open(child);
  kill(parent, SIGKILL);
  waitpid(parent, nullptr, 0);
  if (process) {
    EXPECT_TRUE(ends_within(process->pidfd(), 10'000));
  }
  close(ends[0]);
  close(ends[1]);
}

TEST(Command, MovingOneKeepsItsChild) {
  auto command = Command::start({"true"});
  Command moved{std::move(*command)};
  command = Error{};
  ASSERT_TRUE(moved.release());
  EXPECT_EQ(moved.wait()->exit_code, 0);
}

TEST(Command, WhatCannotBeFoundOrExecutedIsToldAtOnce) {
  Folder folder;
  EXPECT_EQ(Command::start({"no-such-program-at-all"}).error().code, Code::not_found);
  EXPECT_FALSE(Command::start({folder / "missing"}));
  EXPECT_EQ(Command::start({folder.file("plain", "x", 0600)}).error().code, Code::denied);
  EXPECT_FALSE(Command::start({"/tmp"}));
  EXPECT_EQ(Command::start({}).error().code, Code::invalid);
  EXPECT_EQ(Command::start({""}).error().code, Code::invalid);
}

TEST(Command, AFailedExecveIsToldByRelease) {
  Folder folder;
  auto command = Command::start({folder.file("no-program", "not an executable format", 0700)});
  ASSERT_TRUE(command);
  auto released = command->release();
  ASSERT_FALSE(released);
  EXPECT_NE(released.error().message.find("no-program"), std::string::npos);
}

TEST(Command, TheProgramStartsWithStandardSignals) {
  signal(SIGUSR1, SIG_IGN);
  sigset_t blocked;
  sigset_t before;
  sigemptyset(&blocked);
  sigaddset(&blocked, SIGUSR2);
  sigprocmask(SIG_BLOCK, &blocked, &before);
  Folder folder;
  auto command = Command::start(
      {"sh", "-c", "grep -E 'Sig(Blk|Ign)' /proc/self/status > " + (folder / "signals")});
  ASSERT_TRUE(command->release());
  EXPECT_EQ(command->wait()->exit_code, 0);
  signal(SIGUSR1, SIG_DFL);
  sigprocmask(SIG_SETMASK, &before, nullptr);
  std::ifstream in{folder / "signals"};
  std::string name;
  std::string mask;
  int lines = 0;
  // Signals 32 and 33 are the C library's own: sigaction refuses them, so a program whose parent was
  // started with them ignored cannot change that.
  constexpr uint64_t kOfTheLibrary = 0x180000000;
  for (; in >> name >> mask; ++lines)
    EXPECT_EQ(std::stoull(mask, nullptr, 16) & ~kOfTheLibrary, 0u) << name << " " << mask;
  EXPECT_EQ(lines, 2);
}

TEST(Command, ThePathIsAbsolute) {
  auto command = Command::start({"true"});
  ASSERT_TRUE(command);
  EXPECT_TRUE(command->path().starts_with('/')) << command->path();
}

TEST(WillMap, NamesWhatTheProcessThenHasMapped) {
  auto expected = will_map("/bin/sleep");
  ASSERT_TRUE(expected);
  EXPECT_EQ(expected->front(), std::filesystem::canonical("/bin/sleep"));
  auto command = Command::start({"/bin/sleep", "1000"});
  ASSERT_TRUE(command->release());
  for (const std::string& path : *expected) {
    // The loader maps them one after another: waits until this one is mapped.
    bool mapped = false;
    while (!mapped && !ends_within(command->pidfd(), 1)) {
      std::ifstream maps{"/proc/" + std::to_string(command->pid()) + "/maps"};
      for (std::string line; std::getline(maps, line);) mapped |= line.ends_with(path);
    }
    EXPECT_TRUE(mapped) << path;
  }
  EXPECT_GE(expected->size(), 3u);  // itself, libc, the loader
  ASSERT_TRUE(command->terminate());
  EXPECT_TRUE(command->wait());
}

TEST(WillMap, OfAScriptNamesItsInterpreter) {
  Folder folder;
  auto paths = will_map(folder.file("script", "#! /bin/sh -e\n", 0700));
  ASSERT_TRUE(paths);
  EXPECT_EQ(paths->front(), std::filesystem::canonical("/bin/sh"));
  std::string self = folder / "loop";
  EXPECT_EQ(will_map(folder.file("loop", "#!" + self + "\n", 0700)).error().code, Code::invalid);
}

TEST(WillMap, OfAFileWithoutALoaderNamesOnlyIt) {
  Folder folder;
  std::string path = folder.file("data", "\177ELF cut short", 0700);
  EXPECT_EQ(*will_map(path), std::vector<std::string>{path});
  EXPECT_FALSE(will_map(folder / "missing"));
}

TEST(WillMap, TheLoadersListIsReadWhateverTheNames) {
  EXPECT_EQ(parse_loader_list("\tlinux-vdso.so.1 (0x00007ffd)\n"
                              "\tlibx.so => /opt/a b (0x1)/libx.so (0x00007f00)\n"
                              "\tlibgone.so => not found\n"
                              "\t/lib64/ld.so (0x00007f01)\n"
                              "\t./here/liby.so (0x00007f02)\n"
                              "no end"),
            (std::vector<std::string>{"/opt/a b (0x1)/libx.so", "/lib64/ld.so", "./here/liby.so"}));
}

}  // namespace
}  // namespace tracectl
