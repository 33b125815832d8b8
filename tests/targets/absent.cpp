// build: -O2 -g -pthread -fcf-protection=none
// SPDX-License-Identifier: BSD-2-Clause
//
// absent FILE THREADS ROUNDS
//
// Fires probes with addresses of memory that is not present when they are hit: pages of FILE, which it makes
// and drops before each hit, every 64th time also from the page cache; untouched pages; and pages that only a
// userfaultfd can provide, with the number of faults that it got. `brought`: whether the untouched page was
// present after the hit. It has thousands of mappings, and while it reads the file another thread maps and
// unmaps memory.
//
// Expect: absent:file arg0 the address of a string, which can extend into the next page, arg1 its number;
// string n is "string n of the file". absent:fresh arg0 an address where all is 0. absent:held arg0 an
// address that cannot be read without a fault.
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/sdt.h>
#include <sys/syscall.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "stdin_protocol.h"

constexpr size_t kPage = 4096, kPages = 64;

static std::atomic<uint64_t> calls, wrong;

static std::string text(size_t n) { return "string " + std::to_string(n) + " of the file"; }

// Every other string begins 7 bytes before the end of its page.
static size_t place(size_t n) { return n * kPage + (n % 2 ? kPage - 7 : 16); }

static int make_file(const char* path) {
  const int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
  if (fd < 0 || ftruncate(fd, (kPages + 1) * kPage) != 0) exit(2);
  for (size_t n = 0; n < kPages; ++n)
    if (pwrite(fd, text(n).c_str(), text(n).size() + 1, static_cast<off_t>(place(n))) < 0) exit(2);
  fsync(fd);
  return fd;
}

static char* map(int flags, int fd, size_t bytes) {
  void* at = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, flags, fd, 0);
  if (at == MAP_FAILED) exit(2);
  return static_cast<char*>(at);
}

__attribute__((noipa)) static void fire(const char* string, size_t n) {
  DTRACE_PROBE2(absent, file, string, n);
}

static void work(int fd, uint64_t rounds) {
  char* const file = map(MAP_PRIVATE, fd, (kPages + 1) * kPage);
  for (uint64_t round = 0; round < rounds; ++round) {
    const size_t n = round % kPages;
    madvise(file, (kPages + 1) * kPage, MADV_DONTNEED);
    if (round % 64 == 5) posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
    fire(file + place(n), n);
    ++calls;
    wrong += file + place(n) != text(n);
  }
}

static void make_many_mappings() {
  constexpr size_t kMany = 6000;
  char* const all = map(MAP_PRIVATE | MAP_ANONYMOUS, -1, kMany * kPage);
  for (size_t n = 0; n < kMany; n += 2)
    if (mprotect(all + n * kPage, kPage, PROT_READ) != 0) exit(2);
}

static void change_mappings(const std::atomic<bool>& ended) {
  while (!ended) munmap(map(MAP_PRIVATE | MAP_ANONYMOUS, -1, kPage), kPage);
}

// Answers faults with zeroes, so that nobody waits for ever.
static void answer(int faults, std::atomic<bool>& ended, uint64_t& asked) {
  while (!ended) {
    pollfd one{faults, POLLIN, 0};
    uffd_msg message{};
    if (poll(&one, 1, 10) != 1 || read(faults, &message, sizeof message) != sizeof message)
      continue;
    ++asked;
    uffdio_zeropage zeroes{};
    zeroes.range = {message.arg.pagefault.address & ~(kPage - 1), kPage};
    ioctl(faults, UFFDIO_ZEROPAGE, &zeroes);
  }
}

static uint64_t fire_held() {
  const int faults = static_cast<int>(syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK));
  uffdio_api api{};
  api.api = UFFD_API;
  char* const held = map(MAP_PRIVATE | MAP_ANONYMOUS, -1, kPage);
  uffdio_register range{};
  range.range = {reinterpret_cast<uintptr_t>(held), kPage};
  range.mode = UFFDIO_REGISTER_MODE_MISSING;
  if (faults < 0 || ioctl(faults, UFFDIO_API, &api) || ioctl(faults, UFFDIO_REGISTER, &range))
    exit(2);
  uint64_t asked = 0;
  std::atomic<bool> ended = false;
  std::thread server([&] { answer(faults, ended, asked); });
  DTRACE_PROBE1(absent, held, held);
  ended = true;
  server.join();
  return asked;
}

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  const int fd = make_file(argv[1]);
  make_many_mappings();
  ready_and_wait_for_go();
  std::atomic<bool> ended = false;
  std::thread changer([&] { change_mappings(ended); });
  std::vector<std::thread> threads;
  for (int t = 0; t < atoi(argv[2]); ++t)
    threads.emplace_back(work, fd, strtoull(argv[3], nullptr, 10));
  for (std::thread& thread : threads) thread.join();
  ended = true;
  changer.join();
  char* const fresh = map(MAP_PRIVATE | MAP_ANONYMOUS, -1, kPage);
  DTRACE_PROBE1(absent, fresh, fresh);
  unsigned char brought = 0;
  if (mincore(fresh, kPage, &brought) != 0) return 2;
  const uint64_t asked = fire_held();
  printf("done\n{\"calls\":%lu,\"wrong\":%lu,\"asked\":%lu,\"brought\":%d}\n", calls.load(),
         wrong.load(), asked, brought & 1);
  wait_for_exit();
}
