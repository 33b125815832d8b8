// SPDX-License-Identifier: BSD-2-Clause
//
// What it costs that threads are watched for being blocked: two threads on one CPU wake each other through pipes. First
// they are not traced, while another program is, then each of them reads in a traced function.
#include <pthread.h>
#include <sched.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <thread>

#include "daemon/kernel/kernel.h"
#include "daemon/model/pattern.h"
#include "daemon/sessions/engine.h"
#include "daemon/spec/parse.h"
#include "tests/bench/measure.h"
#include "tests/support/must.h"
#include "tests/support/program.h"

namespace tracectl::bench {

// Traced in this very program.
extern "C" __attribute__((noipa)) void bench_blocked_read(int from) {
  char byte = 0;
  if (::read(from, &byte, 1) != 1) std::abort();
}

namespace {

using namespace on_kernel;

constexpr int kRounds = 21;
constexpr int kTurns = 20'000;  // of both threads

using Ends = std::array<int, 2>;

void stay_on_first_cpu() {
  cpu_set_t first;
  CPU_ZERO(&first);
  CPU_SET(0, &first);
  if (::pthread_setaffinity_np(::pthread_self(), sizeof(first), &first) != 0) std::abort();
}

void write_byte(int to) {
  if (::write(to, "", 1) != 1) std::abort();
}

// A turn is two switches and two wakeups.
double ns_of_a_turn() {
  Ends there{}, back{};
  if (::pipe(there.data()) != 0 || ::pipe(back.data()) != 0) std::abort();
  double taken_ns = 0;
  std::thread other([&] {
    stay_on_first_cpu();
    for (int i = 0; i < kTurns; ++i) {
      bench_blocked_read(there[0]);
      write_byte(back[1]);
    }
  });
  std::thread one([&] {
    stay_on_first_cpu();
    const auto began = std::chrono::steady_clock::now();
    for (int i = 0; i < kTurns; ++i) {
      write_byte(there[1]);
      bench_blocked_read(back[0]);
    }
    const std::chrono::duration<double, std::nano> taken = std::chrono::steady_clock::now() - began;
    taken_ns = taken.count();
  });
  one.join();
  other.join();
  for (const int end : {there[0], there[1], back[0], back[1]}) ::close(end);
  return taken_ns / kTurns;
}

class Bench {
 public:
  double with(const std::string& pattern, pid_t pid, const char* action) {
    must(engine_->create_session("bench", std::nullopt, std::nullopt));
    Setting setting{must(parse_pattern(pattern)), process(pid), must(parse_spec(action)),
                    Returns::exits};
    must(engine_->drafts().set("bench", {std::move(setting)}));
    must(engine_->commits().commit("bench", {}));
    const double ns = ns_of_a_turn();
    must(engine_->delete_session("bench"));
    return ns;
  }

 private:
  std::unique_ptr<Engine> engine_ = must(Engine::start(must(Kernel::open()), EngineOptions{}));
};

void run() {
  print_heading();
  Bench bench;
  const Program another("blocks", {"1"});
  const auto bystander = [&](const char* action) {
    return bench.with("u::blocks_read", another.pid(), action);
  };
  const auto traced = [&](const char* action) {
    return bench.with("u::bench_blocked_read", ::getpid(), action);
  };
  print_row("2 switches of bystanders, over not watched, ns",
            in_turn(
                kRounds, [&] { return bystander("sum(block) by stack"); },
                [&] { return bystander("time"); }),
            "");
  print_row("2 blocks in traced calls, split, over time, ns",
            in_turn(
                kRounds, [&] { return traced("time, split"); }, [&] { return traced("time"); }),
            "");
  print_row("2 blocks in traced calls, over time, ns",
            in_turn(
                kRounds, [&] { return traced("sum(block)"); }, [&] { return traced("time"); }),
            "");
  print_row(
      "2 blocks in traced calls, by stack, over time, ns",
      in_turn(
          kRounds, [&] { return traced("sum(block) by stack"); }, [&] { return traced("time"); }),
      "");
}

}  // namespace
}  // namespace tracectl::bench

int main() { tracectl::bench::run(); }
