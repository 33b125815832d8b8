// SPDX-License-Identifier: BSD-2-Clause
//
// The cost of conditions and aggregates for a hit: compared with a BPF program that does nothing, and with an
// equivalent bpftrace script.
#include <fstream>

#include "tests/bench/hit_setup.h"

namespace tracectl::bench {
namespace {

constexpr const char* kFourTerms = "arg0 < 1000000000 && arg1 == 2 && arg2 != 0 && tid != 1";

void condition(Setup& setup, const Site& site) {
  const auto empty = [&] { return setup.with_empty(site); };
  const auto counted = [&] { return setup.with_spec(site, "count"); };
  const auto with_condition = [&] { return setup.with_spec(site, "count", kFourTerms); };
  const Pairs pairs = in_turn(kRounds, with_condition, empty);
  print_row(row("four terms and count, over an empty program", site), pairs,
            site.fast ? "" : reach(median(pairs.ratios()), 1.10));
  print_row(row("four terms and count, over count", site),
            in_turn(kRounds, with_condition, counted), "");
  const auto tool = [&] {
    return setup.with_tool(
        {"bpftrace", "-p", std::to_string(setup.target().pid()), "-e",
         "usdt:" + setup.target().path() + ":hot:" + site.probe +
             " / arg0 < 1000000000 && arg1 == 2 && arg2 != 0 && tid != 1 / { @ = count(); }"},
        site);
  };
  print_row(row("four terms and count, over bpftrace", site),
            in_turn(kToolRounds, with_condition, tool), "");
}

struct Question {
  const char* name;
  const char* ours;
  const char* bpftrace;
};
constexpr Question kQuestions[] = {
    {"count by tid", "count by tid", "@[tid] = count();"},
    {"hist", "hist(arg0)", "@ = hist(arg0);"},
    {"sum by comm", "sum(arg1) by comm", "@[comm] = sum(arg1);"},
};

void aggregates(Setup& setup, const Site& site) {
  for (const Question& question : kQuestions) {
    const auto ours = [&] { return setup.with_spec(site, question.ours); };
    const auto tool = [&] {
      return setup.with_tool(bpftrace(setup.target(), site, question.bpftrace), site);
    };
    const Pairs pairs = in_turn(kToolRounds, ours, tool);
    print_row(row((std::string(question.name) + ", over bpftrace").c_str(), site), pairs,
              reach(median(pairs.ratios()), 1));
  }
}

// The time of each call, measured by the kernel's trampoline on both sides; the call itself does almost
// nothing.
constexpr const char* kTime =
    "@total = stats(nsecs - @begun[tid]); @times = hist(nsecs - @begun[tid]);";

void times(Setup& setup, const Site& site) {
  const std::string function = setup.target().path() + ":" + site.function;
  const auto ours = [&] { return setup.with_spec_of_call(site, "time", Returns::trampoline); };
  const auto tool = [&] {
    return setup.with_tool(
        {"bpftrace", "-p", std::to_string(setup.target().pid()), "-e",
         "uprobe:" + function + " { @begun[tid] = nsecs; } uretprobe:" + function +
             " / @begun[tid] / { " + kTime + " delete(@begun[tid]); }"},
        site);
  };
  const Pairs pairs = in_turn(kToolRounds, ours, tool);
  print_row(row("time, over bpftrace", site), pairs, reach(median(pairs.ratios()), 1));
  const auto hist = [&] {
    return setup.with_spec_of_call(site, "hist(duration)", Returns::trampoline);
  };
  print_row(row("hist(duration), over time", site), in_turn(kToolRounds, hist, ours), "");
  const auto by_exits = [&] { return setup.with_spec_of_call(site, "time", Returns::exits); };
  print_row(row("time by exits, over time", site), in_turn(kToolRounds, by_exits, ours), "");
}

// An address in the mapping of its own file.
std::string first_address(Setup& setup) {
  std::ifstream maps("/proc/" + std::to_string(setup.target().pid()) + "/maps");
  std::string line;
  std::getline(maps, line);
  return "0x" + line.substr(0, line.find('-'));
}

// The cost of a hit that may wait for memory, which is present here.
void memory(Setup& setup, Setup& awake, const Site& site) {
  const auto integer = [&](Setup& with) {
    return [&] { return with.with_spec(site, "sum(u8(" + first_address(with) + "))"); };
  };
  print_row(row("sum(u8(E)) that may sleep, over one that may not", site),
            in_turn(kRounds, integer(setup), integer(awake)), "");
  const auto string = [&](Setup& with) {
    return [&] { return with.with_spec(site, "count by str(" + first_address(with) + ")"); };
  };
  print_row(row("count by str(E) that may sleep, over one that may not", site),
            in_turn(kRounds, string(setup), string(awake)), "");
}

void run() {
  print_heading();
  Setup setup, awake({.fast_nops = true, .sleeps = false});
  for (const Site& site : {kEmulated, kFast}) condition(setup, site);
  for (const Site& site : {kEmulated, kFast}) aggregates(setup, site);
  for (const Site& site : {kEmulated, kFast}) memory(setup, awake, site);
  for (const Site& site : {kEmulated, kFast}) times(setup, site);
}

}  // namespace
}  // namespace tracectl::bench

int main() { tracectl::bench::run(); }
