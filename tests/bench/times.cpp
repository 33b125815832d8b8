// SPDX-License-Identifier: BSD-2-Clause
//
// How near the times of calls are to what the program burned by its own clock (tests/targets/burns.c): the medians of
// each of a few programs, with the kernel's part of a hit as it was measured at the start. Within 10 % or 150 ns is
// promised where the probes take less than the call.
#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "daemon/kernel/kernel.h"
#include "daemon/model/pattern.h"
#include "daemon/sessions/engine.h"
#include "daemon/spec/parse.h"
#include "tests/bench/measure.h"
#include "tests/support/must.h"
#include "tests/support/program.h"

namespace tracectl::bench {
namespace {

using namespace on_kernel;

constexpr int kPrograms = 9;
constexpr const char* kRoundsOfProgram = "200";

struct Function {
  const char* name;
  const char* times;  // of its histogram
  const char* says;   // how long it takes
};
// Buckets are narrow beside what is allowed.
constexpr Function kFunctions[]{{"inner", "lhist(duration, 0, 20000, 20)", "1 us"},
                                {"middle", "lhist(duration, 0, 100000, 100)", "10 us, 3 calls"},
                                {"outer", "lhist(duration, 0, 1000000, 1000)", "300 us, 13 calls"},
                                {"stepped", "lhist(duration, 0, 500000, 500)", "50 us"}};

double median_of(const Row& row) {
  uint64_t before = 0;
  for (const auto& [number, count] : row.buckets) {
    before += count;
    const Bucket bucket = bucket_of(row.shape, number);
    if (before * 2 > row.count)
      return (static_cast<double>(bucket.low) + static_cast<double>(bucket.high)) / 2;
  }
  throw std::runtime_error("an empty histogram");
}

// By function.
using Medians = std::map<std::string, double>;

Medians burned_by(const nlohmann::json& said) {
  const auto own = [&](const char* function) {
    return said.at(function).at("median").get<double>() + said.at("clock").get<double>();
  };
  const double inner = own("inner"), middle = own("middle") + 3 * inner;
  return {{"inner", inner},
          {"middle", middle},
          {"outer", own("outer") + 3 * middle + own("stepped")},
          {"stepped", own("stepped")}};
}

Setting setting_of(const Function& function, pid_t pid, Returns returns) {
  return {must(parse_pattern(std::string("u::burns_") + function.name)), process(pid),
          must(parse_spec(function.times)), returns};
}

struct Times {
  Medians reported, burned;
};

Times run_program(Engine& engine, Returns returns) {
  Program program{"burns", {kRoundsOfProgram}};
  must(engine.create_session("bench", std::nullopt, std::nullopt));
  std::vector<Setting> settings;
  for (const Function& one : kFunctions)
    settings.push_back(setting_of(one, program.pid(), returns));
  must(engine.drafts().set("bench", std::move(settings)));
  must(engine.commits().commit("bench", {}));
  Times times{.reported = {}, .burned = burned_by(nlohmann::json::parse(program.run()))};
  for (const auto& [key, row] : must(engine.counting().read("bench", false)).results.rows)
    times.reported[key.probe.substr(key.probe.rfind('_') + 1)] = median_of(row);
  must(engine.delete_session("bench"));
  return times;
}

// `except`: a function whose probes take longer than its calls.
void measure(Engine& engine, const char* how, Returns returns, const std::string& except) {
  std::map<std::string, Pairs> all;
  for (int i = 0; i < kPrograms; ++i) {
    const Times times = run_program(engine, returns);
    for (const auto& [function, burned] : times.burned) {
      all[function].ours.push_back(times.reported.at(function));
      all[function].other.push_back(burned);
    }
  }
  for (const Function& one : kFunctions) {
    const Pairs& pairs = all.at(one.name);
    Values off;
    for (const double difference : pairs.differences()) off.push_back(std::abs(difference));
    const double allowed = std::max(150.0, median(pairs.other) / 10);
    print_row(std::string(one.says) + ", " + how + ", ns", pairs,
              one.name == except ? "" : reach(median(off), allowed, "%.0f ns off"));
  }
}

void run() {
  print_heading();
  const auto engine = must(Engine::start(must(Kernel::open()), EngineOptions{}));
  measure(*engine, "by trampoline", Returns::trampoline, "");
  measure(*engine, "by exits", Returns::exits, "middle");
}

}  // namespace
}  // namespace tracectl::bench

int main() { tracectl::bench::run(); }
