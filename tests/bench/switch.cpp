// SPDX-License-Identifier: BSD-2-Clause
//
// The cost of switching: the switch itself for ten and for ten thousand sites, a commit that changes the
// settings of armed sites, the differences between the times at which CPUs see a switch, and the cost of a
// hit at a site that is armed but silent.
#include <sched.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <thread>
#include <vector>

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

constexpr uint64_t kCalls = 300'000;
constexpr int kRounds = 21;
constexpr int kSwitches = 1000;
constexpr unsigned kCpuOfSwitch = 0;

double to_us(uint64_t ns) { return static_cast<double>(ns) / 1e3; }
double to_ms(uint64_t ns) { return static_cast<double>(ns) / 1e6; }

// The target does not fork.
std::unique_ptr<Engine> start_engine(const EngineOptions& options = {}) {
  return must(Engine::start(must(Kernel::open({.fast_nops = true})), options));
}

// ---- armed and silent ----

class SilentSite {
 public:
  double with_empty(const Site& site) {
    const Fd link = empty_.arm(target_, site);
    return ns_of_a_call(target_, site, kCalls);
  }

  // Its probes are in force, at other sites.
  void begin_another_session() {
    must(engine_->create_session("other"));
    must(engine_->drafts().set("other", {{must(parse_pattern("usdt::hot:normal")),
                                          process(other_.pid()), must(parse_spec("count"))}}));
    must(engine_->commits().commit("other", {}));
  }

  // Paused: no generation has the hook.
  double paused(const Site& site) {
    must(engine_->create_session("bench"));
    must(engine_->drafts().set("bench",
                               {{must(parse_pattern(std::string("usdt::hot:") + site.probe)),
                                 process(target_.pid()), must(parse_spec("count"))}}));
    must(engine_->commits().commit("bench", {}));
    must(engine_->gates().pause("bench"));
    const double ns = ns_of_a_call(target_, site, kCalls);
    if (must(engine_->counting().read("bench", false)).results.totals.hits != 0)
      throw std::runtime_error("counted while it was paused");
    must(engine_->delete_session("bench"));
    return ns;
  }

 private:
  Program target_{"hot", {}};
  Program other_{"hot", {}};
  EmptyProgram empty_;
  std::unique_ptr<Engine> engine_ = start_engine();
};

void silent_beside_others() {
  SilentSite setup;
  setup.begin_another_session();
  for (const Site& site : {kEmulated, kFast}) {
    const Pairs pairs = in_turn(
        kRounds, [&] { return setup.paused(site); }, [&] { return setup.with_empty(site); });
    print_row(std::string("paused beside a session, over empty, ") + site.name + ", ns", pairs, "");
  }
}

void silent() {
  SilentSite setup;
  for (const Site& site : {kEmulated, kFast}) {
    const Pairs pairs = in_turn(
        kRounds, [&] { return setup.paused(site); }, [&] { return setup.with_empty(site); });
    print_row(std::string("paused, over an empty program, ") + site.name + ", ns", pairs,
              reach(median(pairs.ratios()), 1.02));
  }
}

// ---- many functions, of which a session has some ----

struct Part {
  size_t sites;
  const char* pattern;
};
constexpr Part kParts[] = {{10, "uprobe::m0000[0-9]"},
                           {100, "uprobe::m000[0-9][0-9]"},
                           {1000, "uprobe::m00[0-9][0-9][0-9]"},
                           {10'000, "uprobe::m*[0-9]"}};

class ManySites {
 public:
  explicit ManySites(const EngineOptions& options = {}) : engine(start_engine(options)) {
    for (const Part& part : kParts) must(engine->create_session(name(part)));
  }

  static std::string name(const Part& part) { return std::to_string(part.sites); }

  void stage(const Part& part, const char* spec) {
    must(engine->drafts().set(name(part), {{must(parse_pattern(part.pattern)), process(many_.pid()),
                                            must(parse_spec(spec))}}));
  }
  CommitSummary commit(const Part& part) { return must(engine->commits().commit(name(part), {})); }
  void remove(const Part& part) {
    must(engine->drafts().remove(name(part), {must(parse_pattern(part.pattern))}, std::nullopt));
    commit(part);
  }

  std::unique_ptr<Engine> engine;

 private:
  Program many_{"many", {}};
};

// Off and on again; returns the mean of both switches.
double switch_us(ManySites& setup, const Part& part) {
  const auto off = must(setup.engine->gates().pause(setup.name(part)));
  const auto on = must(setup.engine->gates().resume(setup.name(part)));
  if (off.sites != part.sites || on.sites != part.sites)
    throw std::runtime_error("switched other sites than expected");
  return to_us(off.figures.phases.switch_ + on.figures.phases.switch_) / 2;
}

void switches() {
  ManySites setup;
  for (const Part& part : kParts) {
    setup.stage(part, "count");
    setup.commit(part);
  }
  for (const Part& part : kParts) {
    const Pairs pairs = in_turn(
        kRounds, [&] { return switch_us(setup, part); },
        [&] { return switch_us(setup, kParts[0]); });
    print_row("switch " + setup.name(part) + " sites, over 10, us", pairs,
              reach(median(pairs.ours), 10), "%.2f");
  }
}

// ---- a commit that changes the settings of armed sites ----

// Without the kernel's part: its grace period, arming, disarming.
double own_ms(double whole_ms, const Phases& phases) {
  return whole_ms - to_ms(phases.wait + phases.arm + phases.disarm);
}

void changes() {
  const Part& all = kParts[3];
  ManySites setup;
  Values staged, committed, own, wait;
  for (int i = 0; i <= kRounds; ++i) {
    const uint64_t start = now_ns();
    setup.stage(all, i % 2 ? "count by tid" : "count");
    const uint64_t middle = now_ns();
    const CommitSummary done = setup.commit(all);
    const double whole = to_ms(now_ns() - middle);
    if (done.added + done.updated != all.sites) throw std::runtime_error("changed other sites");
    if (i == 0) continue;  // the first one arms them
    staged.push_back(to_ms(middle - start));
    committed.push_back(whole);
    own.push_back(own_ms(whole, done.figures.phases));
    wait.push_back(to_ms(done.figures.phases.wait));
  }
  const auto row = [](const char* what, const Values& values, const std::string& reached) {
    print_row(what, spread(values, "%.1f"), "", "", reached);
  };
  row("commit a change of 10,000 armed sites, ms", committed, reach(median(committed), 100));
  row("  of it the kernel's grace period, ms", wait, "");
  row("  of it our own work, ms", own, reach(median(own), 20));
  row("stage a change of 10,000 armed sites, ms", staged, "");
}

// ---- lingering sites ----

double set_ms(ManySites& setup, const Part& part, bool arms) {
  const uint64_t start = now_ns();
  setup.stage(part, "count");
  const CommitSummary done = setup.commit(part);
  const double took = to_ms(now_ns() - start);
  if (done.added != part.sites || (done.figures.phases.arm > 1'000'000) != arms)
    throw std::runtime_error(arms ? "nothing was armed" : "what lingered was armed anew");
  return took;
}

// Sites that linger for a nanosecond linger until end_lingering().
void lingering() {
  const Part& part = kParts[2];
  ManySites setup(EngineOptions{.linger_ns = 1});
  const auto armed_anew = [&] {
    const double took = set_ms(setup, part, true);
    setup.remove(part);
    return took;
  };
  const auto lingered = [&] {
    const double took = set_ms(setup, part, false);
    setup.remove(part);
    must(setup.engine->switches().end_lingering());
    return took;
  };
  print_row("set 1,000 lingering, over arming anew, ms", in_turn(kRounds, lingered, armed_anew), "",
            "%.1f");
}

// ---- differences between CPUs at a switch ----

void bind_to_cpu(pid_t task, unsigned cpu) {
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(cpu, &one);
  if (::sched_setaffinity(task, sizeof(one), &one) != 0)
    throw std::runtime_error("cannot bind a thread to a CPU");
}

// Every CPU gets the same number of the hitting threads, whatever else the machine does.
void spread_over_cpus(pid_t pid, unsigned threads) {
  const auto folder = "/proc/" + std::to_string(pid) + "/task";
  std::vector<pid_t> tasks;
  while (tasks.size() < threads + 1) {  // the program's first thread waits for its input
    tasks.clear();
    for (const auto& task : std::filesystem::directory_iterator(folder))
      tasks.push_back(std::stoi(task.path().filename()));
  }
  std::sort(tasks.begin(), tasks.end());
  for (unsigned i = 0; i < threads; ++i)
    bind_to_cpu(tasks[i + 1], i % std::thread::hardware_concurrency());
}

// Microseconds from the switch to the first hit under it.
struct Skew {
  Values here;        // on the CPU that switched
  Values elsewhere;   // on the others
  Values difference;  // between the first and the last CPU of a switch
};

void add(Skew& skew, const std::vector<FirstHit>& first_hits) {
  Values all;
  for (const FirstHit& first : first_hits) {
    all.push_back(to_us(first.after_ns));
    (first.cpu == kCpuOfSwitch ? skew.here : skew.elsewhere).push_back(all.back());
  }
  if (all.size() < 2) return;
  const auto [least, most] = std::minmax_element(all.begin(), all.end());
  skew.difference.push_back(*most - *least);
}

struct Load {
  unsigned threads_per_cpu;
  int functions;  // that each thread calls in turn; one of them is armed
  const char* name;
};
constexpr Load kLoads[] = {
    {1, 1, "1 thread a CPU"}, {1, 2000, "a hit in 2,000 calls"}, {2, 1, "2 threads a CPU"}};

Skew skew_of(const Load& load) {
  const unsigned threads = load.threads_per_cpu * std::thread::hardware_concurrency();
  Program counters{"counters", {std::to_string(threads), "0", std::to_string(load.functions)}};
  auto engine = start_engine();
  must(engine->create_session("bench"));
  must(engine->drafts().set("bench", {{must(parse_pattern("uprobe::f0000")),
                                       process(counters.pid()), must(parse_spec("count"))}}));
  must(engine->commits().commit("bench", {}));
  counters.send("go");
  spread_over_cpus(counters.pid(), threads);
  Skew skew;
  for (int i = 0; i < kSwitches; ++i) {
    const auto done = i % 2 ? engine->gates().resume("bench") : engine->gates().pause("bench");
    add(skew, must(done).figures.first_hits);
  }
  counters.send("stop");
  counters.finish();
  return skew;
}

std::string tail(const Values& values) {
  char text[64];
  std::snprintf(text, sizeof(text), "99 %%: %.1f, most: %.1f, of %zu", quantile(values, 0.99),
                quantile(values, 1), values.size());
  return text;
}

void print_skew(const std::string& what, const Values& values) {
  if (values.empty()) return print_row(what, "no hits", "", "", "");
  print_row(what, spread(values, "%.2f"), "", "", tail(values));
}

// The last rows: from here on this thread switches on one CPU.
void skews() {
  if (std::thread::hardware_concurrency() < 2) return;
  bind_to_cpu(0, kCpuOfSwitch);
  for (const Load& load : kLoads) {
    const Skew skew = skew_of(load);
    const std::string under = std::string(", ") + load.name + ", us";
    print_skew("first hit, another CPU" + under, skew.elsewhere);
    print_skew("first hit, the switch's CPU" + under, skew.here);
    print_skew("between CPUs" + under, skew.difference);
  }
}

void run() {
  print_heading();
  silent();
  silent_beside_others();
  switches();
  changes();
  lingering();
  skews();
}

}  // namespace
}  // namespace tracectl::bench

int main() { tracectl::bench::run(); }
