// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/process/maps.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>

#include "daemon/process/memory.h"
#include "daemon/process/running.h"

extern "C" void* __libc_stack_end;  // set by the dynamic linker: the initial stack pointer

namespace tracectl {
namespace {

// A child that waits to be killed.
class Sleeper {
 public:
  Sleeper() : pid_(fork()) {
    if (pid_ == 0)
      for (;;) pause();
  }
  ~Sleeper() { end(); }
  Sleeper(const Sleeper&) = delete;
  Sleeper& operator=(const Sleeper&) = delete;
  pid_t pid() const { return pid_; }
  void end() {
    if (pid_ <= 0) return;
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
    pid_ = 0;
  }

 private:
  pid_t pid_;
};

// A file of one page, mapped executable by this process.
class MappedPage {
 public:
  explicit MappedPage(const std::string& suffix = "") {
    std::string name = "/tmp/tracectl-maps-XXXXXX";
    Fd fd{mkstemp(name.data())};
    path = name + suffix;
    EXPECT_EQ(rename(name.c_str(), path.c_str()), 0);
    EXPECT_EQ(write(fd.get(), "page", 4), 4);
    EXPECT_EQ(ftruncate(fd.get(), 4096), 0);
    EXPECT_EQ(fstat(fd.get(), &status), 0);
    data = mmap(nullptr, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd.get(), 0);
  }
  ~MappedPage() {
    munmap(data, 4096);
    unlink(path.c_str());
  }
  MappedPage(const MappedPage&) = delete;
  MappedPage& operator=(const MappedPage&) = delete;

  std::string path;
  struct stat status {};
  void* data = nullptr;
};

MappedFile file_of(const Process& process, ino_t inode) {
  auto files = executable_files(process);
  EXPECT_TRUE(files);
  auto found = std::ranges::find(*files, inode, &MappedFile::inode);
  return found != files->end() ? *found : MappedFile{};
}

bool contains(const std::vector<pid_t>& pids, pid_t pid) {
  return std::ranges::find(pids, pid) != pids.end();
}

TEST(Maps, ExecutableRangesAreGatheredByFile) {
  auto files = parse_maps(
      "00400000-00401000 r--p 00000000 fd:01 42                                 /bin/x\n"
      "00401000-00403000 r-xp 00001000 fd:01 42                                 /bin/x\n"
      "00403000-00404000 rw-p 00003000 fd:01 42                                 /bin/x\n"
      "7f0000000000-7f0000001000 r-xp 00000000 00:1f 7                          /lib/y.so\n"
      "7f0000002000-7f0000003000 r-xp 00002000 fd:01 42                         /bin/x\n"
      "7fff00000000-7fff00001000 r-xp 00000000 00:00 0                          [vdso]\n"
      "7fff00002000-7fff00003000 rwxp 00000000 00:00 0 \n");
  ASSERT_EQ(files.size(), 2u);
  MappedFile x{
      .path = "/bin/x", .device = makedev(0xfd, 1), .inode = 42, .deleted = false, .ranges = {}};
  x.ranges = {{0x401000, 0x403000, 0x1000}, {0x7f0000002000, 0x7f0000003000, 0x2000}};
  EXPECT_EQ(files[0], x);
  EXPECT_EQ(files[1].path, "/lib/y.so");
}

TEST(Maps, HostileNamesStayOneFile) {
  auto files = parse_maps(
      "1000-2000 r-xp 0 0:1 1 /a b\\012c -> [x]\n"
      "3000-4000 r-xp 0 0:1 2 /old (deleted)\n");
  ASSERT_EQ(files.size(), 2u);
  EXPECT_EQ(files[0].path, "/a b\nc -> [x]");
  EXPECT_FALSE(files[0].deleted);
  EXPECT_EQ(files[1].path, "/old");
  EXPECT_TRUE(files[1].deleted);
}

TEST(Maps, LinesTheKernelDoesNotWriteAreSkipped) {
  for (const char* text :
       {"", "\n", "x", "1000", "1000-", "1000-2000", "1000-2000 r-x", "2000-1000 r-xp 0 0:1 1 /a",
        "1000-2000 r-xp 0 0:1 1 a", "1000-2000 r-xp 0 0:1 99999999999999999999999 /a",
        "fffffffffffffffff-2000 r-xp 0 0:1 1 /a", "1000-2000 r-xp 0 01 1 /a"})
    EXPECT_TRUE(parse_maps(text).empty()) << text;
}

TEST(Maps, AProcessShowsWhatItHasMapped) {
  MappedPage page{" with\nnewline"};
  Sleeper sleeper;
  auto process = Process::open(sleeper.pid());
  MappedFile file = file_of(*process, page.status.st_ino);
  EXPECT_EQ(file.path, page.path);
  ASSERT_EQ(file.ranges.size(), 1u);
  EXPECT_EQ(file.ranges[0].start, reinterpret_cast<uint64_t>(page.data));
}

TEST(Maps, TheMappedFileIsOpenedAlsoWhereItsNameIsGoneOrAnothers) {
  MappedPage page;
  Sleeper sleeper;
  auto process = Process::open(sleeper.pid());
  ASSERT_EQ(unlink(page.path.c_str()), 0);
  MappedFile file = file_of(*process, page.status.st_ino);
  EXPECT_TRUE(file.deleted);
  Fd impostor{open(page.path.c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0600)};
  auto opened = open_mapped(*process, file);
  ASSERT_TRUE(opened);
  struct stat found {};
  ASSERT_EQ(fstat(opened->get(), &found), 0);
  EXPECT_EQ(found.st_ino, page.status.st_ino);
}

TEST(Maps, AFileThatIsNotMappedIsNotOpenedUnderItsName) {
  MappedPage page;
  Sleeper sleeper;
  auto process = Process::open(sleeper.pid());
  MappedFile other{.path = page.path,
                   .device = 0,
                   .inode = page.status.st_ino + 1,
                   .deleted = false,
                   .ranges = {}};
  EXPECT_EQ(open_mapped(*process, other).error().code, Code::not_found);
}

TEST(Process, OneThatDoesNotExistIsNotFound) {
  Sleeper sleeper;
  pid_t pid = sleeper.pid();
  sleeper.end();
  auto process = Process::open(pid);
  ASSERT_FALSE(process);
  EXPECT_EQ(process.error().code, Code::not_found);
  EXPECT_EQ(Process::open(0).error().code, Code::invalid);
  EXPECT_EQ(Process::open(-1).error().code, Code::invalid);
}

TEST(Process, AThreadsIdNamesTheProcess) {
  std::string message;
  std::thread{[&] {
    auto process = Process::open(gettid());
    message = process ? "" : process.error().message;
  }}.join();
  EXPECT_NE(message.find("a thread of process " + std::to_string(getpid())), std::string::npos)
      << message;
}

TEST(Process, OneThatEndedIsNotAliveAndNothingIsReadOfIt) {
  Sleeper sleeper;
  auto process = Process::open(sleeper.pid());
  ASSERT_TRUE(process);
  EXPECT_TRUE(*process->alive());
  sleeper.end();
  EXPECT_FALSE(*process->alive());
  EXPECT_EQ(executable_files(*process).error().code, Code::not_found);
  EXPECT_EQ(open_executable(*process).error().code, Code::not_found);
  EXPECT_EQ(read_memory(*process, 0x1000, 1).error().code, Code::not_found);
}

TEST(Process, WhatItExecutesIsKnownByItsStackWhateverItIsCalled) {
  char own_name[16] = {};
  prctl(PR_GET_NAME, own_name);
  for (const char* name : {"plain", "a b", ")", "x) R 1 2 3", "(((", "\n)\n"}) {
    prctl(PR_SET_NAME, name);
    Sleeper sleeper;
    prctl(PR_SET_NAME, own_name);
    auto process = Process::open(sleeper.pid());
    ASSERT_TRUE(process);
    EXPECT_EQ(process->image(), reinterpret_cast<uint64_t>(__libc_stack_end)) << name;
    sleeper.end();
    EXPECT_EQ(process->image(), std::nullopt) << name;
  }
}

TEST(Process, ItsExecutableIsOpened) {
  Sleeper sleeper;
  auto process = Process::open(sleeper.pid());
  auto fd = open_executable(*process);
  ASSERT_TRUE(fd);
  struct stat opened {};
  struct stat own {};
  ASSERT_EQ(fstat(fd->get(), &opened), 0);
  ASSERT_EQ(stat("/proc/self/exe", &own), 0);
  EXPECT_EQ(opened.st_ino, own.st_ino);
}

TEST(Memory, IsReadWholeOrNotAtAll) {
  MappedPage page;
  Sleeper sleeper;
  auto process = Process::open(sleeper.pid());
  auto address = reinterpret_cast<uint64_t>(page.data);
  EXPECT_EQ(*read_memory(*process, address, 4), (std::vector<uint8_t>{'p', 'a', 'g', 'e'}));
  EXPECT_FALSE(read_memory(*process, 0, 1));
  EXPECT_FALSE(read_memory(*process, ~0ull - 10, 5));
  EXPECT_EQ(read_memory(*process, address, kMaxReadBytes + 1).error().code, Code::invalid);
}

TEST(Memory, ABatchAnswersEachRange) {
  MappedPage page;
  Sleeper sleeper;
  auto process = Process::open(sleeper.pid());
  auto address = reinterpret_cast<uint64_t>(page.data);
  MemoryRange ranges[] = {{address, 2}, {0, 1}, {address + 2, 2}};
  auto results = read_memory(*process, ranges);
  ASSERT_TRUE(results);
  ASSERT_EQ(results->size(), 3u);
  EXPECT_EQ(*(*results)[0], (std::vector<uint8_t>{'p', 'a'}));
  EXPECT_FALSE((*results)[1]);
  EXPECT_EQ(*(*results)[2], (std::vector<uint8_t>{'g', 'e'}));
}

TEST(Running, FindsTheProcessesThatRunOrMapAFile) {
  MappedPage page;
  Sleeper sleeper;
  struct stat own {};
  ASSERT_EQ(stat("/proc/self/exe", &own), 0);
  EXPECT_TRUE(contains(processes_running(own.st_dev, own.st_ino), sleeper.pid()));
  EXPECT_TRUE(contains(processes_mapping(page.status.st_dev, page.status.st_ino), sleeper.pid()));
  EXPECT_FALSE(contains(processes_running(page.status.st_dev, page.status.st_ino), sleeper.pid()));
  EXPECT_FALSE(
      contains(processes_mapping(page.status.st_dev + 1, page.status.st_ino), sleeper.pid()));
  EXPECT_FALSE(contains(processes_running(own.st_dev, own.st_ino), 1));
}

}  // namespace
}  // namespace tracectl
