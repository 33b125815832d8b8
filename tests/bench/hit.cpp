// SPDX-License-Identifier: BSD-2-Clause
//
// The cost of a hit for the traced program: counted, and streamed with three arguments, compared with a BPF
// program that does nothing at the same site, and with bpftrace.
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "tests/bench/hit_setup.h"

namespace tracectl::bench {
namespace {

using namespace on_kernel;

constexpr double kLongRunNs = 10e9;

std::vector<std::string> tracectl_trace(const Program& target, const Site& site) {
  return {build_folder() + "/tracectl",
          "--fast-nops",
          "trace",
          "--json",
          "-p",
          std::to_string(target.pid()),
          std::string("usdt::hot:") + site.probe};
}

void counted(Setup& setup, const Site& site) {
  const auto ours = [&] { return setup.with_spec(site, "count"); };
  const Pairs pairs = in_turn(kRounds, ours, [&] { return setup.with_empty(site); });
  print_row(row("counted, over an empty program", site), pairs,
            site.fast ? reach(median(pairs.differences()), 25, "%g ns more")
                      : reach(median(pairs.ratios()), 1.06));
  const auto tool = [&] {
    return setup.with_tool(bpftrace(setup.target(), site, "@ = count();"), site);
  };
  print_row(row("counted, over bpftrace", site), in_turn(kToolRounds, ours, tool), "");
}

// The cost of allowing the target to fork.
void kept_breakpoint(Setup& fast) {
  Setup kept(KernelOptions{});
  const Pairs pairs = in_turn(
      kRounds, [&] { return kept.with_spec(kFast, "count"); },
      [&] { return fast.with_spec(kFast, "count"); });
  print_row(row("counted, breakpoint kept, over --fast-nops", kFast), pairs, "");
}

void streamed(Setup& setup, const Site& site) {
  const auto ours = [&] { return setup.with_spec(site, "event"); };
  const Pairs pairs = in_turn(kRounds, ours, [&] { return setup.with_empty(site); });
  print_row(row("streamed, over an empty program", site), pairs,
            reach(median(pairs.ratios()), 1.35));
  const auto whole = [&] { return setup.with_tool(tracectl_trace(setup.target(), site), site); };
  const auto tool = [&] {
    const char* action = "printf(\"%d %d %d\\n\", arg0, arg1, arg2);";
    return setup.with_tool(bpftrace(setup.target(), site, action), site);
  };
  print_row(row("tracectl trace over bpftrace's printf", site), in_turn(kToolRounds, whole, tool),
            "");
}

// The cost of checking at each hit whether the session's user may see it, and the user's quota.
void of_user(Setup& setup, const Site& site) {
  for (const char* spec : {"count", "event"})
    print_row(row((std::string(spec) + " for a user, over everybody").c_str(), site),
              in_turn(
                  kRounds, [&] { return setup.with_spec_of_user(site, spec); },
                  [&] { return setup.with_spec(site, spec); }),
              "");
}

// The last line of tracectl's output: `N events, M lost`.
std::string last_line(const std::string& path) {
  std::ifstream lines(path);
  std::string last;
  for (std::string line; std::getline(lines, line);) last = line;
  return last;
}

// A daemon for the commands of a measurement; without one they run an engine themselves.
class Daemon {
 public:
  Daemon()
      : command_({build_folder() + "/tracectld", "--socket", new_socket(), "--sessions",
                  "/nonexistent", "--fast-nops"}) {
    while (!std::filesystem::exists(socket())) {
      command_.expect_running();
      ::usleep(1000);
    }
  }
  ~Daemon() { command_.end(SIGTERM); }
  static std::string socket() { return build_folder() + "/bench/socket"; }

 private:
  static std::string new_socket() {
    std::filesystem::remove(socket());
    return socket();
  }

  Command command_;
};

std::vector<std::string> through_daemon(const Program& target, const Site& site) {
  auto words = tracectl_trace(target, site);
  words[1] = "--socket=" + Daemon::socket();
  return words;
}

// One thread at full speed for ten seconds, every event formatted as JSON.
void streamed_for_long(Setup& setup, const Site& site, const char* what,
                       const std::vector<std::string>& trace) {
  constexpr double kLeastRate = 2e6;  // at the faster site, where nothing keeps up with all
  const std::string said = build_folder() + "/bench/said";
  const double expected_ns = setup.with_tool(trace, site);
  const auto calls = static_cast<uint64_t>(kLongRunNs / expected_ns);
  Command tool{trace, said.c_str()};
  wait_until_armed(setup.target(), tool);
  const double ns = ns_of_a_call(setup.target(), site, calls);
  tool.end(SIGINT);
  const std::string summary = last_line(said);
  const double rate = std::stod(summary) * 1e9 / (static_cast<double>(calls) * ns);
  const bool met =
      summary == std::to_string(calls) + " events, 0 lost" || (site.fast && rate >= kLeastRate);
  char rated[64];
  std::snprintf(rated, sizeof(rated), ", %.2f M/s, %.0f ns of the command's CPU each", rate / 1e6,
                tool.used_cpu_ns() / std::stod(summary));
  print_row(row(what, site), spread({ns}), "", "", summary + rated + (met ? "  met" : "  MISSED"));
}

void run() {
  print_heading();
  Setup setup;
  const auto unprobed = [&] { return setup.unprobed(kEmulated); };
  print_row("a call without a probe, ns", spread(repeat(kRounds, unprobed), "%.1f"), "", "", "");
  for (const Site& site : {kEmulated, kFast}) counted(setup, site);
  kept_breakpoint(setup);
  for (const Site& site : {kEmulated, kFast}) streamed(setup, site);
  for (const Site& site : {kEmulated, kFast}) of_user(setup, site);
  for (const Site& site : {kEmulated, kFast})
    streamed_for_long(setup, site, "tracectl trace, 10 s without a pause",
                      tracectl_trace(setup.target(), site));
  const Daemon daemon;
  for (const Site& site : {kEmulated, kFast})
    streamed_for_long(setup, site, "through the daemon, 10 s without a pause",
                      through_daemon(setup.target(), site));
}

}  // namespace
}  // namespace tracectl::bench

int main() { tracectl::bench::run(); }
