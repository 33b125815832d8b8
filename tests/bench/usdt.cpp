// SPDX-License-Identifier: BSD-2-Clause
//
// The cost of a probe of <tracectl/usdt.h> for its program, disabled and enabled, compared with a probe of
// <sys/sdt.h> with a semaphore; and the cost of a tag of <tracectl/tag.h> while nobody traces.
#include <fstream>

#include "tests/bench/hit_setup.h"

namespace tracectl::bench {
namespace {

using namespace on_kernel;

constexpr Site kPlain{"", "plain", "no probe", false};
constexpr Site kHeader{"header", "by_header", "tracectl/usdt.h", true};
constexpr Site kSdt{"sdt", "by_sdt", "sys/sdt.h", false};
constexpr Site kTag{"", "by_tag", "tracectl_tag_put()", false};
constexpr const char* kProgram = "hot_usdt";
constexpr uint64_t kCallsOff = 20'000'000;

double ns_off(Setup& setup, const Site& site) {
  return ns_of_a_call(setup.target(), site, kCallsOff);
}

void time_off(Setup& setup, const Site& site, bool has_reach) {
  const Pairs pairs = in_turn(
      kRounds, [&] { return ns_off(setup, site); }, [&] { return ns_off(setup, kPlain); });
  print_row(row("off, over no probe", site), pairs,
            has_reach ? reach(median(pairs.differences()), 1, "%g ns more") : "", "%.2f");
}

// All instructions of the program, as counted by callgrind.
uint64_t instructions(const std::string& path, const Site& site, uint64_t calls) {
  const std::string said = build_folder() + "/bench/callgrind";
  Command tool{{"valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", path,
                site.function, std::to_string(calls)},
               said.c_str()};
  if (tool.wait() != 0) throw std::runtime_error("valgrind failed: see " + said);
  std::ifstream lines(said);
  for (std::string line; std::getline(lines, line);)
    if (const size_t at = line.find("Collected : "); at != std::string::npos)
      return std::stoull(line.substr(at + 12));
  throw std::runtime_error("valgrind counted nothing: see " + said);
}

double instructions_of_a_call(const std::string& path, const Site& site) {
  constexpr uint64_t kCounted = 100'000;
  const uint64_t more = instructions(path, site, 2 * kCounted) - instructions(path, site, kCounted);
  return static_cast<double>(more) / kCounted;
}

// The size of the function's hot part.
double bytes_of(const std::string& path, const Site& site) {
  const Fd fd{::open(path.c_str(), O_RDONLY | O_CLOEXEC)};
  const auto file = must(ElfFile::open(fd.get(), path));
  for (const Function& function : file.functions())
    if (function.name == site.function) return static_cast<double>(function.size);
  throw std::runtime_error(std::string("no function ") + site.function);
}

template <class Measure>
void more_than_plain(const char* what, const std::string& path, Measure of) {
  const double plain = of(path, kPlain);
  const double header = of(path, kHeader) - plain, sdt = of(path, kSdt) - plain;
  const auto text = [](double value) { return spread({value}, "%g"); };
  char ratio[16];
  std::snprintf(ratio, sizeof(ratio), "%.2f", header / sdt);
  print_row(what, text(header), text(sdt), ratio, reach(header, sdt));
}

// Pairs vary a lot: if there is a bound, many of them are needed.
void counted(Setup& setup, const char* how, double bound) {
  const auto ours = [&] { return setup.with_spec(kHeader, "count"); };
  const auto tool = [&] {
    return setup.with_tool(bpftrace(setup.target(), kSdt, "@ = count();"), kSdt);
  };
  const Pairs pairs = in_turn(bound > 0 ? kRounds : kToolRounds, ours, tool);
  print_row(std::string("on, counted") + how + ", over sdt.h by bpftrace, ns", pairs,
            bound > 0 ? reach(median(pairs.ratios()), bound) : "");
}

void run() {
  print_heading();
  Setup setup({.fast_nops = true}, kProgram);
  time_off(setup, kHeader, true);
  time_off(setup, kSdt, false);
  time_off(setup, kTag, false);
  const std::string path = setup.target().path();
  more_than_plain("off, instructions more than without, a call", path, instructions_of_a_call);
  more_than_plain("off, bytes more than without, where it is hot", path, bytes_of);
  counted(setup, ", --fast-nops", 0.55);
  Setup kept(KernelOptions{}, kProgram);
  counted(kept, "", 0);
}

}  // namespace
}  // namespace tracectl::bench

int main() { tracectl::bench::run(); }
