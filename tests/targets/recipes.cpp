// build: -O2 -g -pthread -fno-inline
// SPDX-License-Identifier: BSD-2-Clause
//
// recipes opens | locks | exceptions | allocations | calls
//
// Does the work that a recipe is about, and reports it by its own counts and clock.
//
// Expect for opens: {"opens":{PATH: number of attempts}}, by open, fopen and openat.
// For locks: {"locks":{NAME:{"address","contended","inner","outer"}}}: the number of calls that had to wait,
// and bounds of the sum of their times, in ns. Each waits >= 5 ms.
// For exceptions: {"types":{NAME: how often it was thrown}, "places":{FUNCTION: ...}}.
// For allocations: {"sizes":{FUNCTION:[how many, bytes]}}, each by one call of malloc in it.
// For calls: {"calls":{ARGUMENT:{"count","inner","outer"}}} of serve(ARGUMENT).
#include <fcntl.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <time.h>

#include <atomic>
#include <cinttypes>
#include <cstdint>
#include <map>
#include <stdexcept>
#include <string>
#include <thread>

#include "stdin_protocol.h"

namespace {

uint64_t now() {
  timespec t;
  clock_gettime(CLOCK_BOOTTIME, &t);
  return uint64_t(t.tv_sec) * 1000000000 + uint64_t(t.tv_nsec);
}

void work(uint64_t ns) {
  const uint64_t until = now() + ns;
  while (now() < until) {}
}

void print_counts(const char* name, const std::map<std::string, int>& counts) {
  printf("\"%s\":{", name);
  const char* comma = "";
  for (const auto& [key, count] : counts) {
    printf("%s\"%s\":%d", comma, key.c_str(), count);
    comma = ",";
  }
  printf("}");
}

// ---- opens ----

void close_if_open(int fd) {
  if (fd >= 0) close(fd);
}

void opens() {
  std::map<std::string, int> counts;
  for (int i = 0; i < 7; ++i) close_if_open(open("/dev/null", O_RDONLY)), ++counts["/dev/null"];
  for (int i = 0; i < 4; ++i) close_if_open(open("/no/such", O_RDONLY)), ++counts["/no/such"];
  for (int i = 0; i < 3; ++i) fclose(fopen("/etc/passwd", "r")), ++counts["/etc/passwd"];
  const int dev = open("/dev", O_RDONLY | O_DIRECTORY);
  ++counts["/dev"];
  for (int i = 0; i < 5; ++i) close_if_open(openat(dev, "zero", O_RDONLY)), ++counts["zero"];
  close_if_open(dev);
  printf("done\n{");
  print_counts("opens", counts);
  printf("}\n");
}

// ---- locks ----

constexpr uint64_t kHeldNs = 5000000;

struct Waits {
  const void* address;
  uint64_t contended = 0, inner = 0, outer = 0;
};

bool sleeps(long tid) {
  char path[64], text[256];
  snprintf(path, sizeof path, "/proc/self/task/%ld/stat", tid);
  FILE* file = fopen(path, "r");
  const bool read = file && fgets(text, sizeof text, file);
  if (file) fclose(file);
  const char* state = read ? strrchr(text, ')') : nullptr;
  return state && state[2] == 'S';
}

// One thread holds the lock until another has slept for it long enough.
template <class Lock, class Wait, class Unlock>
Waits contend(const void* address, int rounds, Lock lock, Wait wait, Unlock unlock) {
  Waits waits{address};
  for (int i = 0; i < rounds; ++i) {
    std::atomic<long> waiter{0};
    lock();
    std::thread thread([&] {
      const uint64_t before = now();
      waiter = syscall(SYS_gettid);
      wait();
      waits.outer += now() - before;
      unlock();
    });
    while (!waiter || !sleeps(waiter)) {}
    const uint64_t asleep = now();
    work(kHeldNs);
    waits.inner += now() - asleep;
    ++waits.contended;
    unlock();
    thread.join();
  }
  return waits;
}

void locks() {
  static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER, free_mutex = PTHREAD_MUTEX_INITIALIZER;
  static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
  std::map<std::string, Waits> all;
  all["mutex"] = contend(
      &mutex, 12, [] { pthread_mutex_lock(&mutex); }, [] { pthread_mutex_lock(&mutex); },
      [] { pthread_mutex_unlock(&mutex); });
  all["read"] = contend(
      &rwlock, 6, [] { pthread_rwlock_wrlock(&rwlock); }, [] { pthread_rwlock_rdlock(&rwlock); },
      [] { pthread_rwlock_unlock(&rwlock); });
  all["write"] = contend(
      &rwlock, 3, [] { pthread_rwlock_rdlock(&rwlock); }, [] { pthread_rwlock_wrlock(&rwlock); },
      [] { pthread_rwlock_unlock(&rwlock); });
  for (int i = 0; i < 1000; ++i) pthread_mutex_lock(&free_mutex), pthread_mutex_unlock(&free_mutex);
  all["free"] = {&free_mutex};
  printf("done\n{\"locks\":{");
  const char* comma = "";
  for (const auto& [name, waits] : all) {
    printf("%s\"%s\":{\"address\":%" PRIuPTR ",\"contended\":%" PRIu64 ",\"inner\":%" PRIu64
           ",\"outer\":%" PRIu64 "}",
           comma, name.c_str(), reinterpret_cast<uintptr_t>(waits.address), waits.contended,
           waits.inner, waits.outer);
    comma = ",";
  }
  printf("}}\n");
}

// ---- exceptions ----

struct Local {};  // types compared by address: the name begins with a '*'

}  // namespace

namespace app {
template <class T> struct Bad { T what; };
}  // namespace app

extern "C" {
__attribute__((noipa)) void throws_runtime_error() { throw std::runtime_error("wrong"); }
__attribute__((noipa)) void throws_another() { throw std::runtime_error("wrong too"); }
__attribute__((noipa)) void throws_bad() { throw app::Bad<int>{1}; }
__attribute__((noipa)) void throws_local() { throw Local{}; }
__attribute__((noipa)) void throws_int() { throw 7; }
}

namespace {

struct Thrown {
  std::map<std::string, int> types, places;

  template <class T> void by(void (*function)(), const char* name, const char* type, int times) {
    for (int i = 0; i < times; ++i) {
      try {
        function();
      } catch (const T&) {
        ++types[type], ++places[name];
      }
    }
  }
};

void exceptions() {
  Thrown thrown;
  thrown.by<std::runtime_error>(throws_runtime_error, "throws_runtime_error", "std::runtime_error",
                                20);
  thrown.by<std::runtime_error>(throws_another, "throws_another", "std::runtime_error", 11);
  thrown.by<app::Bad<int>>(throws_bad, "throws_bad", "app::Bad<int>", 7);
  thrown.by<Local>(throws_local, "throws_local", "(anonymous namespace)::Local", 5);
  thrown.by<int>(throws_int, "throws_int", "int", 3);
  printf("done\n{");
  print_counts("types", thrown.types);
  printf(",");
  print_counts("places", thrown.places);
  printf("}\n");
}

}  // namespace

// ---- allocations ----

extern "C" {
__attribute__((noipa)) void allocates_small() {
  void* volatile memory = malloc(24);
  free(memory);
}
__attribute__((noipa)) void allocates_large(size_t more) {
  void* volatile memory = malloc(5000 + more);
  free(memory);
}
}

namespace {

void allocations() {
  uint64_t large = 0;
  for (int i = 0; i < 300; ++i) allocates_small();
  for (size_t i = 0; i < 40; ++i) allocates_large(i), large += 5000 + i;
  printf("done\n{\"sizes\":{\"allocates_small\":[300,%d],\"allocates_large\":[40,%" PRIu64 "]}}\n",
         300 * 24, large);
}

}  // namespace

// ---- calls ----

// Its work is not a tail call, which would end the call early.
extern "C" __attribute__((noipa)) uint64_t serve(uint64_t tenths_ms) {
  work(tenths_ms * 100000);
  return tenths_ms + 1;
}

namespace {

void calls() {
  struct Calls {
    uint64_t argument, count, inner = 0, outer = 0;
  } all[] = {{1, 40}, {5, 20}, {30, 10}};
  for (Calls& one : all) {
    for (uint64_t i = 0; i < one.count; ++i) {
      const uint64_t before = now();
      serve(one.argument);
      one.outer += now() - before;
    }
    one.inner = one.count * one.argument * 100000;
  }
  printf("done\n{\"calls\":{");
  for (const Calls& one : all)
    printf("%s\"%" PRIu64 "\":{\"count\":%" PRIu64 ",\"inner\":%" PRIu64 ",\"outer\":%" PRIu64 "}",
           &one == all ? "" : ",", one.argument, one.count, one.inner, one.outer);
  printf("}}\n");
}

}  // namespace

int main(int argc, char** argv) {
  const std::map<std::string, void (*)()> ways{{"opens", opens},
                                               {"locks", locks},
                                               {"exceptions", exceptions},
                                               {"allocations", allocations},
                                               {"calls", calls}};
  const auto way = argc == 2 ? ways.find(argv[1]) : ways.end();
  if (way == ways.end()) return 2;
  ready_and_wait_for_go();
  way->second();
  wait_for_exit();
}
