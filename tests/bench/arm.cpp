// SPDX-License-Identifier: BSD-2-Clause
//
// How long users wait: from a command to the first armed probe, for ten thousand probes, for a listing. And
// the daemon's use of the machine while it is idle.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>

#include "daemon/kernel/kernel.h"
#include "daemon/model/pattern.h"
#include "daemon/sessions/engine.h"
#include "daemon/spec/parse.h"
#include "tests/bench/command.h"
#include "tests/bench/measure.h"
#include "tests/bench/site.h"
#include "tests/support/must.h"
#include "tests/support/program.h"

namespace tracectl::bench {
namespace {

using namespace on_kernel;

constexpr int kRounds = 11;
constexpr int kToolRounds = 5;
constexpr int kSlowToolRounds = 3;
constexpr int kBusyRounds = 7;
constexpr double kRestSeconds = 10;
// 110 MB, 35,000 functions; it is installed with the compiler of the BPF programs.
constexpr const char* kLargeLibrary = "/usr/lib/x86_64-linux-gnu/libLLVM-14.so.1";

double ms_since(uint64_t start_ns) { return static_cast<double>(now_ns() - start_ns) / 1e6; }

std::string tracectl() { return build_folder() + "/tracectl"; }

// ---- from the command to armed sites ----

void wait_until_armed(const Program& target, size_t sites, Command& tool) {
  while (changed_code(target.pid(), target.path()).size() < sites) {
    tool.expect_running();
    ::usleep(100);
  }
}

double until_armed_ms(const Program& target, size_t sites, std::vector<std::string> words) {
  const uint64_t start = now_ns();
  Command tool{std::move(words)};
  wait_until_armed(target, sites, tool);
  const double took = ms_since(start);
  tool.end(SIGINT);
  return took;
}

double whole_ms(const Program& target, size_t sites, std::vector<std::string> words) {
  const uint64_t start = now_ns();
  Command tool{std::move(words)};
  wait_until_armed(target, sites, tool);
  tool.end(SIGINT);
  return ms_since(start);
}

std::vector<std::string> count(const Program& target, const std::string& function) {
  return {tracectl(),           "--embedded", "count", "-p", std::to_string(target.pid()),
          "uprobe::" + function};
}

std::vector<std::string> bpftrace(const Program& target, const std::string& function) {
  return {"bpftrace", "-p", std::to_string(target.pid()), "-e",
          "uprobe:" + target.path() + ":" + function + " { @[probe] = count(); }"};
}

void commands() {
  const Program one{"hot", {}};
  const Pairs first = in_turn(
      kRounds, [&] { return until_armed_ms(one, 1, count(one, "hot_push")); },
      [&] { return until_armed_ms(one, 1, bpftrace(one, "hot_push")); });
  print_row("command to first site, over bpftrace, ms", first, reach(median(first.ours), 300));
  const Program many{"many", {}};
  print_row("count 100 functions and end, over bpftrace, ms",
            in_turn(
                kSlowToolRounds, [&] { return whole_ms(many, 100, count(many, "m000*")); },
                [&] { return whole_ms(many, 100, bpftrace(many, "m000*")); }),
            "");
}

// ---- ten thousand functions ----

// Each begins with a 5-byte nop.
void ten_thousand(bool fast_nops) {
  const Program many{"many", {}};
  auto engine = must(Engine::start(must(Kernel::open({.fast_nops = fast_nops})), EngineOptions{}));
  must(engine->create_session("bench"));
  const Pattern all = must(parse_pattern("uprobe::m*[0-9]"));
  const auto commit_ms = [&](size_t sites) {
    const uint64_t start = now_ns();
    must(engine->commits().commit("bench", {}));
    const double took = ms_since(start);
    if (changed_code(many.pid(), many.path()).size() != sites)
      throw std::runtime_error("other sites than expected are armed");
    return took;
  };
  Values arming, disarming;
  for (int i = 0; i < kRounds; ++i) {
    must(engine->drafts().set("bench", {{all, process(many.pid()), must(parse_spec("count"))}}));
    arming.push_back(commit_ms(10'000));
    must(engine->drafts().remove("bench", {all}, std::nullopt));
    disarming.push_back(commit_ms(0));
  }
  const std::string how = fast_nops ? " with --fast-nops, ms" : ", ms";
  print_row("arm 10,000 functions" + how, spread(arming), "", "", reach(median(arming), 100));
  print_row("disarm 10,000 functions" + how, spread(disarming), "", "",
            reach(median(disarming), 200));
}

// ---- sites that are hit constantly, by more threads than there are CPUs ----

// They begin with `push`, so they trap at each hit on both sides.
void busy() {
  Program counters{"counters_push", {"4", "0", "1000"}};
  auto engine = must(Engine::start(must(Kernel::open()), EngineOptions{}));
  must(engine->create_session("bench"));
  const Pattern all = must(parse_pattern("uprobe::f0*"));
  const EmptyProgram empty;
  const std::vector<uint64_t> offsets = offsets_of(counters.path(), "f0");
  counters.send("go");
  Pairs arming, disarming;
  for (int i = 0; i < kBusyRounds; ++i) {
    must(
        engine->drafts().set("bench", {{all, process(counters.pid()), must(parse_spec("count"))}}));
    const CommitSummary armed = must(engine->commits().commit("bench", {}));
    if (armed.sites != offsets.size()) throw std::runtime_error("other sites are armed");
    arming.ours.push_back(static_cast<double>(armed.figures.phases.arm) / 1e6);
    must(engine->drafts().remove("bench", {all}, std::nullopt));
    disarming.ours.push_back(
        static_cast<double>(must(engine->commits().commit("bench", {})).figures.phases.disarm) /
        1e6);
    uint64_t start = now_ns();
    Fd link = empty.arm(counters, offsets);
    arming.other.push_back(ms_since(start));
    start = now_ns();
    link = Fd{};
    disarming.other.push_back(ms_since(start));
  }
  print_row("arm 1,000 that 4 threads hit, over an empty link, ms", arming,
            reach(median(arming.ratios()), 1.2));
  print_row("disarm 1,000 that 4 threads hit, over an empty link, ms", disarming,
            reach(median(disarming.ratios()), 1.2));
}

// ---- listing ----

double run_ms(std::vector<std::string> words) {
  const uint64_t start = now_ns();
  Command tool{std::move(words)};
  if (tool.wait() != 0) throw std::runtime_error("a listing failed");
  return ms_since(start);
}

void listing() {
  if (!std::filesystem::exists(kLargeLibrary)) {
    print_row("list 35,000 functions", "not measured", "", "", "libLLVM-14 is not installed");
    return;
  }
  const std::string all = std::string("uprobe:") + kLargeLibrary + ":*";
  const Pairs pairs = in_turn(
      kToolRounds,
      [&] {
        return run_ms({tracectl(), "--embedded", "list", all});
      },
      [&] {
        return run_ms({"bpftrace", "-l", all});
      });
  print_row("list 35,000 functions of 110 MB, over bpftrace, ms", pairs,
            reach(median(pairs.ours), 1000));
}

// ---- the daemon at rest ----

// The sum of a field over the threads of a process: `voluntary_ctxt_switches`.
uint64_t sum_of(pid_t pid, const std::string& field) {
  uint64_t sum = 0;
  for (const auto& task :
       std::filesystem::directory_iterator("/proc/" + std::to_string(pid) + "/task")) {
    std::ifstream status(task.path() / "status");
    for (std::string line; std::getline(status, line);)
      if (line.starts_with(field + ":")) sum += std::stoull(line.substr(field.size() + 1));
  }
  return sum;
}

double resident_mb(pid_t pid) {
  std::ifstream status("/proc/" + std::to_string(pid) + "/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("VmRSS:")) return std::stod(line.substr(6)) / 1024;
  return 0;
}

void at_rest() {
  const std::string socket = build_folder() + "/bench/socket";
  std::filesystem::remove(socket);
  Command daemon{{build_folder() + "/tracectld", "--socket", socket}};
  while (!std::filesystem::exists(socket)) {
    daemon.expect_running();
    ::usleep(1000);
  }
  run_ms({tracectl(), "--socket", socket, "status"});
  const uint64_t before = sum_of(daemon.pid(), "voluntary_ctxt_switches");
  ::sleep(static_cast<unsigned>(kRestSeconds));
  const uint64_t after = sum_of(daemon.pid(), "voluntary_ctxt_switches");
  const double wakeups = static_cast<double>(after - before) / kRestSeconds;
  const double resident = resident_mb(daemon.pid());
  print_row("daemon at rest, wake-ups a second", spread({wakeups}, "%.1f"), "", "",
            reach(wakeups, 1));
  print_row("daemon at rest, resident MB", spread({resident}, "%.1f"), "", "", reach(resident, 40));
  daemon.end(SIGTERM);
}

void run() {
  print_heading();
  commands();
  ten_thousand(false);
  ten_thousand(true);
  busy();
  listing();
  at_rest();
}

}  // namespace
}  // namespace tracectl::bench

int main() { tracectl::bench::run(); }
