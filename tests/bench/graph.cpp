// SPDX-License-Identifier: BSD-2-Clause
//
// What a call costs in a graph, entry and return together: against a BPF program that does nothing at
// both, and against bpftrace with the usual pair of probes and a map.
#include "tests/bench/hit_setup.h"

namespace tracectl::bench {
namespace {

constexpr Site kCall{"normal", "hot_push", "push", false};

std::vector<std::string> bpftrace_pair(const on_kernel::Program& target) {
  const std::string function = target.path() + ":" + kCall.function;
  return {"bpftrace", "-p", std::to_string(target.pid()), "-e",
          "uprobe:" + function + " { @began[tid] = nsecs; } uretprobe:" + function +
              " /@began[tid]/ { printf(\"%d %d\\n\", tid, nsecs - @began[tid]); "
              "delete(@began[tid]); }"};
}

void graph(Setup& setup, const char* way, Returns returns) {
  const auto ours = [&] { return setup.with_spec_of_call(kCall, "graph", returns); };
  const auto empty = [&] { return setup.with_empty_session(kCall); };
  const std::string what = std::string("graph by ") + way;
  const Pairs pairs = in_turn(kRounds, ours, empty);
  print_row(row((what + ", over an empty session").c_str(), kCall), pairs,
            reach(median(pairs.ratios()), 1.10));
  const auto tool = [&] { return setup.with_tool(bpftrace_pair(setup.target()), kCall); };
  const Pairs tools = in_turn(kToolRounds, ours, tool);
  print_row(row((what + ", over bpftrace").c_str(), kCall), tools,
            reach(median(tools.ratios()), 1.00));
}

void timed(Setup& setup) {
  const auto ours = [&] { return setup.with_spec_of_call(kCall, "time", Returns::trampoline); };
  const auto empty = [&] { return setup.with_empty_session(kCall); };
  print_row(row("time by trampoline, over an empty session", kCall), in_turn(kRounds, ours, empty),
            "");
}

}  // namespace
}  // namespace tracectl::bench

int main() {
  using namespace tracectl;
  bench::print_heading();
  bench::Setup setup;
  bench::graph(setup, "trampoline", Returns::trampoline);
  bench::graph(setup, "exits", Returns::exits);
  bench::timed(setup);
  return 0;
}
