// build: -O2 -g -pthread -fcf-protection=none -fno-optimize-sibling-calls
// SPDX-License-Identifier: BSD-2-Clause
//
// waits
//
// Threads with open calls. Input lines:
//   begin THREADS:DEPTH  once: starts THREADS threads, and each calls waits_nest DEPTH deep; `done` when all of them
//                        wait in the innermost call
//   return 0             these calls return, and the threads continue without open calls; `done` when all have returned
// Prints {"threads":N} after `done`: how many threads there are.
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TRACED __attribute__((noipa))
#define BYTES_OF_CALL 64

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t all_are_there = PTHREAD_COND_INITIALIZER, may_go = PTHREAD_COND_INITIALIZER;
static unsigned threads, there, depth;  // there: in the innermost call, or after the outermost one
static int may_return;

static void arrive(void) {
  if (++there == threads) pthread_cond_signal(&all_are_there);
}

static void wait_for_all(void) {
  while (there < threads) pthread_cond_wait(&all_are_there, &mutex);
}

static void wait_to_return(void) {
  pthread_mutex_lock(&mutex);
  arrive();
  while (!may_return) pthread_cond_wait(&may_go, &mutex);
  pthread_mutex_unlock(&mutex);
}

TRACED uint64_t waits_nest(unsigned deeper) {
  if (!deeper) {
    wait_to_return();
    return 1;
  }
  return waits_nest(deeper - 1) * 31 + deeper;
}

static void* run(void* unused) {
  waits_nest(depth - 1);
  pthread_mutex_lock(&mutex);
  arrive();
  pthread_mutex_unlock(&mutex);
  for (;;) pause();
  return unused;
}

static void begin(unsigned count) {
  pthread_attr_t attributes;
  pthread_t thread;
  pthread_attr_init(&attributes);
  // Without guard pages, they are one mapping.
  pthread_attr_setguardsize(&attributes, 0);
  pthread_attr_setstacksize(&attributes, 32768 + (size_t)depth * BYTES_OF_CALL);
  pthread_mutex_lock(&mutex);
  threads = count;
  while (count--) {
    const int error = pthread_create(&thread, &attributes, run, NULL);
    if (error) {
      fprintf(stderr, "waits: cannot make a thread: %s\n", strerror(error));
      exit(2);
    }
  }
  wait_for_all();
  pthread_mutex_unlock(&mutex);
}

static void let_return(void) {
  pthread_mutex_lock(&mutex);
  there = 0;
  may_return = 1;
  pthread_cond_broadcast(&may_go);
  wait_for_all();
  pthread_mutex_unlock(&mutex);
}

int main(void) {
  printf("ready %d\n", (int)getpid());
  fflush(stdout);
  char line[64];
  while (fgets(line, sizeof line, stdin)) {
    unsigned count = 0;
    if (sscanf(line, "begin %u:%u", &count, &depth) == 2)
      begin(count);
    else if (sscanf(line, "return %u", &count) == 1)
      let_return();
    else
      break;
    printf("done\n{\"threads\":%u}\n", threads);
    fflush(stdout);
  }
  _exit(0);
}
