// SPDX-License-Identifier: BSD-2-Clause
//
// The cost of a call in a graph, entry and return together: compared with a BPF program that does nothing at
// both, with bpftrace with the usual pair of probes and a map, and with uftrace, for which the program must
// be compiled. And the number of bytes of a recorded call.
#include <fcntl.h>

#include "daemon/process/command.h"
#include "daemon/recording/reader.h"
#include "tests/bench/hit_setup.h"
#include "tests/bench/uftrace.h"

namespace tracectl::bench {
namespace {

constexpr Site kCall{"normal", "hot_push", "push", false};

constexpr const char* kPrinted = "printf(\"%d %d\\n\", tid, nsecs - @began[tid]);";
constexpr const char* kSummed = "@took[func] = stats(nsecs - @began[tid]);";

// `at_return`: the statements there, with the time since the entry.
std::vector<std::string> bpftrace_pair(const on_kernel::Program& target, const char* at_return) {
  const std::string function = target.path() + ":" + kCall.function;
  return {"bpftrace", "-p", std::to_string(target.pid()), "-e",
          "uprobe:" + function + " { @began[tid] = nsecs; } uretprobe:" + function +
              " /@began[tid]/ { " + at_return + " delete(@began[tid]); }"};
}

struct Measured {
  std::string what;
  const char* action;
  Returns returns;
  const char* in_bpftrace;
};

void held_against_others(Setup& setup, const Measured& measured) {
  const auto ours = [&] {
    return setup.with_spec_of_call(kCall, measured.action, measured.returns);
  };
  const auto empty = [&] { return setup.with_empty_session(kCall); };
  const Pairs pairs = in_turn(kRounds, ours, empty);
  print_row(row((measured.what + ", over an empty session").c_str(), kCall), pairs,
            reach(median(pairs.ratios()), 1.10));
  const auto tool = [&] {
    return setup.with_tool(bpftrace_pair(setup.target(), measured.in_bpftrace), kCall);
  };
  const Pairs tools = in_turn(kToolRounds, ours, tool);
  print_row(row((measured.what + ", over bpftrace").c_str(), kCall), tools,
            reach(median(tools.ratios()), 1.00));
}

void graph_and_uftrace(Setup& setup, const char* way, Returns returns, const std::string& uftrace) {
  Uftraced traced{uftrace};
  const auto ours = [&] { return setup.with_spec_of_call(kCall, "graph", returns); };
  const auto other = [&] { return traced.ns(kCall, kCalls); };
  print_row(row((std::string("graph by ") + way + ", over uftrace").c_str(), kCall),
            in_turn(kToolRounds, ours, other), "");
}

constexpr uint64_t kRecordedCalls = 20'000;  // fits into the ring, so none is lost

double recorded_bytes(Setup& setup) {
  const Folder folder;
  const std::string file = folder.path() + "/graph.tct";
  Command tool{{on_kernel::build_folder() + "/tracectl", "--embedded", "graph", kCall.function,
                "-p", std::to_string(setup.target().pid()), "-o", file},
               "/dev/null",
               "/dev/null"};
  wait_until_armed(setup.target(), tool);
  ns_of_a_call(setup.target(), kCall, kRecordedCalls);
  tool.end(SIGINT);
  auto reader = recording::Reader::open(Fd{::open(file.c_str(), O_RDONLY | O_CLOEXEC)});
  if (!reader) throw std::runtime_error(reader.error().message);
  uint64_t events = 0;
  const auto count = [&](const StreamItem& item) {
    return events += std::holds_alternative<Event>(item), true;
  };
  if (auto read = reader->read({}, count); !read) throw std::runtime_error(read.error().message);
  if (events < 2 * kRecordedCalls) throw std::runtime_error("events were lost");
  return static_cast<double>(reader->bytes()) / kRecordedCalls;
}

double uftrace_bytes(const std::string& uftrace) {
  Uftraced traced{uftrace};
  traced.ns(kCall, kRecordedCalls);
  return static_cast<double>(traced.bytes()) / kRecordedCalls;
}

void recorded(Setup& setup, const std::string& uftrace) {
  const Pairs pairs = in_turn(
      kToolRounds, [&] { return recorded_bytes(setup); }, [&] { return uftrace_bytes(uftrace); });
  print_row("bytes of a call, graph -o over uftrace's folder", pairs,
            reach(median(pairs.ratios()), 1.00));
}

void over_uftrace(Setup& setup) {
  const auto uftrace = find_program("uftrace");
  if (!uftrace) {
    print_row("over uftrace: " + uftrace.error().message, "", "", "", "");
    return;
  }
  graph_and_uftrace(setup, "trampoline", Returns::trampoline, *uftrace);
  graph_and_uftrace(setup, "exits", Returns::exits, *uftrace);
  recorded(setup, *uftrace);
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
  using bench::kPrinted, bench::kSummed;
  for (const bench::Measured& measured : std::vector<bench::Measured>{
           {"graph by trampoline", "graph", Returns::trampoline, kPrinted},
           {"graph by exits", "graph", Returns::exits, kPrinted},
           {"graph summed up by trampoline", "graph, time by path", Returns::trampoline, kSummed},
           {"graph summed up by exits", "graph, time by path", Returns::exits, kSummed}})
    bench::held_against_others(setup, measured);
  bench::over_uftrace(setup);
  bench::timed(setup);
  return 0;
}
