// build: -O2 -g -pthread -fcf-protection=none
// SPDX-License-Identifier: BSD-2-Clause
//
// Strict seccomp, which kills on any system call except read, write, exit and sigreturn: for a thread of this
// process, and for a child that inherited the armed sites when it was forked; those at 5-byte nops are in
// soak_forked_nop5.c.
#include <linux/seccomp.h>
#include <pthread.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "soak.h"

enum { kLongestAnswerMs = 30000 };

static bool forked;

SOAK_FUNCTION uint64_t sandbox_nop5(uint64_t n) {
  NOP5_FIRST;
  return n * 13;
}

SOAK_FUNCTION uint64_t sandbox_leaf(uint64_t n) {
  volatile uint64_t words[4] = {n, n + 7, n + 9, n + 11};
  return words[0] + words[1] + words[2] + words[3];
}

SOAK_FUNCTION uint64_t sandbox_work(uint64_t n) {
  uint64_t sum = 0;
  for (uint64_t i = 0; i < 60; ++i) {
    sum = mixed(sum, sandbox_leaf(n + i));
    if (!forked) sum = mixed(sum, sandbox_nop5(n + i));
  }
  return sum;
}

// Answers each number with its checksum, until the end of the questions.
SOAK_FUNCTION void sandbox_serve(int questions, int answers) {
  prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT);
  uint64_t n;
  while (read(questions, &n, sizeof n) == sizeof n) {
    const uint64_t sum = sandbox_work(n);
    if (write(answers, &sum, sizeof sum) != sizeof sum) break;
  }
  syscall(SYS_exit, 0);
}

struct Box {
  int ask, questions, answer, answers;
};

static struct Box made_box(void) {
  int to[2], from[2];
  if (pipe(to) || pipe(from)) exit(1);
  return (struct Box){.ask = to[1], .questions = to[0], .answer = from[0], .answers = from[1]};
}

// No answer means that the server has died.
static uint64_t asked(const struct Box* box, uint64_t n) {
  struct pollfd answer = {.fd = box->answer, .events = POLLIN, .revents = 0};
  uint64_t sum = 0;
  if (write(box->ask, &n, sizeof n) != sizeof n || poll(&answer, 1, kLongestAnswerMs) != 1 ||
      read(box->answer, &sum, sizeof sum) != sizeof sum) {
    fprintf(stderr, "a sandbox gave no answer\n");
    abort();
  }
  return sum;
}

static struct Box thread_box;

static void* serve_in_thread(void* unused) {
  sandbox_serve(thread_box.questions, thread_box.answers);
  return unused;
}

SOAK_FUNCTION uint64_t sandbox_child(uint64_t n) {
  struct Box box = made_box();
  const pid_t child = fork();
  if (child == 0) {
    forked = true;
    close(box.ask);
    sandbox_serve(box.questions, box.answers);
  }
  close(box.questions);
  close(box.answers);
  const uint64_t sum = asked(&box, n);
  close(box.ask);
  close(box.answer);
  int status = 0;
  waitpid(child, &status, 0);
  return mixed(sum, (uint64_t)status);
}

static uint64_t sandbox_round(void) {
  uint64_t sum = 0;
  for (uint64_t n = 0; n < 4; ++n) sum = mixed(sum, asked(&thread_box, n));
  return mixed(sum, sandbox_child(5));
}

int main(void) {
  pthread_t thread;
  thread_box = made_box();
  if (pthread_create(&thread, NULL, serve_in_thread, NULL) != 0) return 1;
  const int status = soak_without_semaphores(sandbox_round);
  close(thread_box.ask);
  pthread_join(thread, NULL);
  return status;
}
