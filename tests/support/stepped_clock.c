// SPDX-License-Identifier: BSD-2-Clause
//
// For LD_PRELOAD: the time of day is the kernel's plus a number of nanoseconds, which is read at each call
// from the file that STEPPED_CLOCK names (a 64-bit number). Other clocks are unchanged.
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static const volatile int64_t* step_ns;

__attribute__((constructor)) static void map_step(void) {
  const int fd = open(getenv("STEPPED_CLOCK"), O_RDONLY | O_CLOEXEC);
  void* const mapped = mmap(NULL, sizeof(*step_ns), PROT_READ, MAP_SHARED, fd, 0);
  if (mapped == MAP_FAILED) abort();
  step_ns = mapped;
  close(fd);
}

int clock_gettime(clockid_t clock, struct timespec* now) {
  const long failed = syscall(SYS_clock_gettime, clock, now);
  if (failed || (clock != CLOCK_REALTIME && clock != CLOCK_REALTIME_COARSE) || !step_ns)
    return (int)failed;
  const int64_t ns = (int64_t)now->tv_sec * 1000000000 + now->tv_nsec + *step_ns;
  now->tv_sec = ns / 1000000000;
  now->tv_nsec = ns % 1000000000;
  return 0;
}

int gettimeofday(struct timeval* now, void* zone) {
  (void)zone;
  struct timespec exact;
  clock_gettime(CLOCK_REALTIME, &exact);
  now->tv_sec = exact.tv_sec;
  now->tv_usec = exact.tv_nsec / 1000;
  return 0;
}

time_t time(time_t* now) {
  struct timespec exact;
  clock_gettime(CLOCK_REALTIME, &exact);
  if (now) *now = exact.tv_sec;
  return exact.tv_sec;
}
