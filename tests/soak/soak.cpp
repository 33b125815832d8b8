// SPDX-License-Identifier: BSD-2-Clause
//
// soak SECONDS [SEED [PROGRAM...]]
//
// Switches everything in programs that compute checksums on, over and off at random. No checksum may change
// and no process may die. The same SEED gives the same operations in the same order.
#include <sys/wait.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "daemon/kernel/kernel.h"
#include "daemon/model/pattern.h"
#include "daemon/sessions/engine.h"
#include "daemon/spec/parse.h"
#include "tests/support/must.h"
#include "tests/support/program.h"

namespace tracectl::soak {
namespace {

using namespace on_kernel;
using Clock = std::chrono::steady_clock;

constexpr int kSessions = 5;
constexpr size_t kMostSettings = 8;          // of a draft
constexpr uint64_t kLongestOffset = 48;      // in bytes; most functions are not longer
constexpr size_t kOperationsRemembered = 8;  // to be printed with a failure
constexpr uint64_t kLingerNs = 100'000'000;
constexpr auto kBetweenProgress = std::chrono::seconds(10);

// ---- the traced programs ----

struct Kind {
  const char* name;
  const char* functions;               // glob of the functions of the rounds
  bool usdt = false;                   // it has USDT probes
  std::vector<const char*> more = {};  // patterns of libraries that its rounds use
};

const std::vector<Kind>& kinds() {
  static const std::vector<Kind> all{
      {"soak_redzone", "redzone_*"},
      {"soak_exceptions",
       "*exceptions_*",
       true,
       {"uprobe:libgcc_s.so.1:_Unwind_*", "uprobe:libstdc++.so.6*:__cxa_*"}},
      {"soak_jumps", "jumps_*", true, {"uprobe:libc.so.6:*longjmp*", "uprobe:libc.so.6:raise"}},
      {"soak_signals", "signals_*", false, {"uprobe:libc.so.6:raise"}},
      {"soak_coroutines", "coroutines_*", true, {"uprobe:libc.so.6:*context"}},
      {"soak_forks", "forks_*", false, {"uprobe:libc.so.6:*fork", "uprobe:libc.so.6:_exit"}},
      {"soak_forked_nop5", "forked_*"},
      {"soak_threads", "*threads_*", false, {"uprobe:libc.so.6:pthread_*"}},
      {"soak_sandbox", "sandbox_*", false, {"uprobe:libc.so.6:read", "uprobe:libc.so.6:write"}},
      {"soak_typed", "*typed_*", true},
      {"soak_clock", "clock_*", false, {"uprobe:libc.so.6:clock_gettime"}},
  };
  return all;
}

struct Subject {
  explicit Subject(const Kind& one) : kind(one), program(one.name, {}) {}

  const Kind& kind;
  Program program;
  uint64_t rounds = 0, wrong = 0;
};

std::string described(int status) {
  return WIFSIGNALED(status) ? "died by signal " + std::to_string(WTERMSIG(status))
                             : "ended with status " + std::to_string(WEXITSTATUS(status));
}

// ---- random choices ----

class Chance {
 public:
  explicit Chance(uint64_t seed) : engine_(seed) {}

  // 0 to bound - 1. The standard's distributions differ from library to library.
  uint64_t below(uint64_t bound) { return engine_() % bound; }
  bool once_in(uint64_t times) { return below(times) == 0; }
  template <class Container> auto& one_of(Container& container) {
    return container[below(container.size())];
  }

 private:
  std::mt19937_64 engine_;
};

class CountingSink : public EventSink {
 public:
  void take(std::span<const StreamItem> items) override {
    for (const StreamItem& item : items)
      if (std::holds_alternative<Event>(item)) ++events_;
  }
  uint64_t events() const { return events_; }

 private:
  std::atomic<uint64_t> events_{0};
};

// ---- the soak ----

class Soak {
 public:
  Soak(uint64_t seed, const std::vector<std::string>& names);

  void run_until(Clock::time_point end);
  void end_tracing();
  void end_programs();
  void print_summary() const;
  // An exception is a failure, and is reported.
  void attempt(const std::function<void()>& step);
  bool failed() const { return failed_; }

 private:
  struct Operation {
    const char* name;
    uint64_t weight;
    void (Soak::*run)(const std::string& session);
  };
  static const std::vector<Operation>& operations();
  const Operation& any_operation();

  void set(const std::string& session);
  void set_several(const std::string& session);
  void remove(const std::string& session);
  void abort(const std::string& session);
  void commit(const std::string& session);
  void read(const std::string& session);
  void clear(const std::string& session);
  void flush(const std::string& session);
  void replace(const std::string& session);
  void pause(const std::string& session);
  void resume(const std::string& session);
  void restart(const std::string& session);
  void pause_all(const std::string&);
  void resume_all(const std::string&);
  void end_lingering(const std::string&);

  void step();
  // Prints what is wrong, and the last operations.
  void fail(const std::string& what);
  void expect_programs_alive();
  void print_progress();
  void create(const std::string& session);
  std::vector<Setting> draft(const std::string& session) const;
  void stage(const std::string& session, const std::string& pattern, const Target& target);
  std::string any_pattern(const Kind& kind);
  Target any_target(const Subject& subject);
  void end(Subject& subject);

  Chance chance_;
  std::vector<std::unique_ptr<Subject>> subjects_;
  std::unique_ptr<Engine> engine_;
  std::vector<std::string> sessions_;
  std::shared_ptr<CountingSink> sink_ = std::make_shared<CountingSink>();
  std::deque<std::string> last_operations_;
  uint64_t steps_ = 0, hits_ = 0;
  bool failed_ = false;
  Clock::time_point start_ = Clock::now(), progress_at_ = start_ + kBetweenProgress;
};

const std::vector<Soak::Operation>& Soak::operations() {
  static const std::vector<Operation> all{{"set", 20, &Soak::set},
                                          {"set several", 5, &Soak::set_several},
                                          {"remove", 12, &Soak::remove},
                                          {"abort", 2, &Soak::abort},
                                          {"commit", 30, &Soak::commit},
                                          {"read", 3, &Soak::read},
                                          {"clear", 5, &Soak::clear},
                                          {"flush", 3, &Soak::flush},
                                          {"replace", 3, &Soak::replace},
                                          {"pause", 3, &Soak::pause},
                                          {"resume", 6, &Soak::resume},
                                          {"restart", 2, &Soak::restart},
                                          {"pause all", 1, &Soak::pause_all},
                                          {"resume all", 2, &Soak::resume_all},
                                          {"end lingering", 5, &Soak::end_lingering}};
  return all;
}

const Soak::Operation& Soak::any_operation() {
  uint64_t sum = 0;
  for (const Operation& operation : operations()) sum += operation.weight;
  uint64_t chosen = chance_.below(sum);
  for (const Operation& operation : operations()) {
    if (chosen < operation.weight) return operation;
    chosen -= operation.weight;
  }
  throw std::logic_error("the weights do not add up");
}

bool is_wanted(const Kind& kind, const std::vector<std::string>& names) {
  return names.empty() || std::find(names.begin(), names.end(), kind.name) != names.end();
}

Soak::Soak(uint64_t seed, const std::vector<std::string>& names)
    : chance_(seed), engine_(must(Engine::start(must(Kernel::open()), {.linger_ns = kLingerNs}))) {
  for (const Kind& kind : kinds())
    if (is_wanted(kind, names)) subjects_.push_back(std::make_unique<Subject>(kind));
  if (subjects_.empty()) throw std::runtime_error("there is no such program");
  for (int i = 0; i < kSessions; ++i) create(sessions_.emplace_back("soak-" + std::to_string(i)));
  for (const auto& subject : subjects_) subject->program.send("go");
}

void Soak::create(const std::string& session) {
  must(engine_->create_session(session));
  must(engine_->streams().subscribe(session, sink_));
}

void Soak::run_until(Clock::time_point end) {
  while (!failed_ && Clock::now() < end) {
    step();
    expect_programs_alive();
    if (Clock::now() >= progress_at_) print_progress();
  }
  last_operations_.clear();  // they do not explain later failures
}

void Soak::step() {
  const Operation& operation = any_operation();
  const std::string& session = chance_.one_of(sessions_);
  last_operations_.push_back(session + ": " + operation.name);
  if (last_operations_.size() > kOperationsRemembered) last_operations_.pop_front();
  ++steps_;
  (this->*operation.run)(session);
}

void Soak::fail(const std::string& what) {
  failed_ = true;
  std::printf("FAILED: %s\n", what.c_str());
  for (const std::string& operation : last_operations_)
    std::printf("  before that  %s\n", operation.c_str());
  last_operations_.clear();
  std::fflush(stdout);
}

void Soak::attempt(const std::function<void()>& step) {
  try {
    step();
  } catch (const std::exception& error) {
    fail(error.what());
  }
}

void Soak::expect_programs_alive() {
  for (const auto& subject : subjects_)
    if (const auto status = subject->program.end_status())
      fail(std::string(subject->kind.name) + " " + described(*status));
}

// ---- operations ----

std::vector<Setting> Soak::draft(const std::string& session) const {
  const Session& found = *must(engine_->sessions().find(session));
  return found.draft.value_or(found.settings);
}

std::string Soak::any_pattern(const Kind& kind) {
  const std::string functions = std::string("uprobe::") + kind.functions;
  switch (chance_.below(5)) {
    case 0: return "uprobe::*";
    case 1: return functions + "+" + std::to_string(chance_.below(kLongestOffset));
    case 2:
      if (kind.usdt) return "usdt::*:*";
      break;
    case 3:
      if (!kind.more.empty()) return chance_.one_of(kind.more);
      break;
  }
  return functions;
}

// The process alone, or all that run its program, which adds only its children.
Target Soak::any_target(const Subject& subject) {
  if (!chance_.once_in(4)) return process(subject.program.pid());
  Target target;
  target.executables = {subject.program.path()};
  return target;
}

void Soak::stage(const std::string& session, const std::string& pattern, const Target& target) {
  static const char* const kActions[] = {"count", "count by tid", "event", "event, count by pid"};
  const std::string action = kActions[chance_.below(std::size(kActions))];
  last_operations_.back() +=
      " " + pattern + (target.executables.empty() ? " -p " : " -x ") + action;
  must(engine_->drafts().set(session,
                             {{must(parse_pattern(pattern)), target, must(parse_spec(action))}}));
}

void Soak::set(const std::string& session) {
  if (draft(session).size() >= kMostSettings) return remove(session);
  const Subject& subject = *chance_.one_of(subjects_);
  last_operations_.back() += std::string(" ") + subject.kind.name;
  stage(session, any_pattern(subject.kind), any_target(subject));
}

void Soak::set_several(const std::string& session) {
  if (draft(session).size() >= kMostSettings) return remove(session);
  Target target;
  for (const auto& subject : subjects_)
    if (chance_.once_in(2)) target.pids.push_back(subject->program.pid());
  if (!target.empty()) stage(session, "uprobe::*", target);
}

void Soak::remove(const std::string& session) {
  const std::vector<Setting> settings = draft(session);
  if (settings.empty()) return;
  const Setting& one = chance_.one_of(settings);
  must(engine_->drafts().remove(session, {one.pattern}, one.target));
}

void Soak::abort(const std::string& session) { must(engine_->drafts().abort(session)); }

void Soak::commit(const std::string& session) {
  must(engine_->commits().commit(session, {.partial = true}));
}

void Soak::read(const std::string& session) { must(engine_->counting().read(session, false)); }

void Soak::clear(const std::string& session) {
  hits_ += must(engine_->counting().read(session, true)).results.totals.hits;
}

void Soak::flush(const std::string& session) { must(engine_->streams().flush(session)); }

void Soak::replace(const std::string& session) {
  clear(session);
  must(engine_->delete_session(session));
  create(session);
}

void Soak::pause(const std::string& session) { must(engine_->gates().pause(session)); }

void Soak::resume(const std::string& session) { must(engine_->gates().resume(session)); }

void Soak::restart(const std::string& session) {
  hits_ += must(engine_->counting().read(session, false)).results.totals.hits;
  must(engine_->counting().restart(session));
}

void Soak::pause_all(const std::string&) { must(engine_->gates().pause(std::nullopt)); }

void Soak::resume_all(const std::string&) { must(engine_->gates().resume(std::nullopt)); }

void Soak::end_lingering(const std::string&) { must(engine_->switches().end_lingering()); }

// ---- the end ----

void Soak::end_tracing() {
  for (const std::string& session : sessions_) {
    clear(session);
    must(engine_->delete_session(session));
  }
  while (engine_->switches().next_linger_end_ns() != 0) must(engine_->switches().end_lingering());
  if (hits_ == 0) fail("nothing was hit");
}

void Soak::end_programs() {
  for (const auto& subject : subjects_) attempt([&] { end(*subject); });
}

void Soak::end(Subject& subject) {
  const std::string name = subject.kind.name;
  Program& program = subject.program;
  if (program.end_status()) return;  // already reported
  const size_t changed = changed_code(program.pid(), program.path()).size();
  if (changed != 0)
    fail(name + ": " + std::to_string(changed) + " bytes of code are still changed");
  program.send("stop");
  const auto said = nlohmann::json::parse(program.finish());
  subject.rounds = said.at("rounds");
  subject.wrong = said.at("wrong");
  if (subject.rounds == 0) fail(name + " came through no round");
  if (subject.wrong != 0) fail(name + ": " + std::to_string(subject.wrong) + " wrong checksums");
  if (program.leave() != "0") fail(name + ": a semaphore is not 0");
  if (const int status = program.wait_for_end(); status != 0) fail(name + " " + described(status));
}

void Soak::print_progress() {
  progress_at_ += kBetweenProgress;
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(Clock::now() - start_);
  std::printf("%5lld s  %llu operations, %llu commits\n", static_cast<long long>(seconds.count()),
              static_cast<unsigned long long>(steps_),
              static_cast<unsigned long long>(engine_->switches().stats().commits));
  std::fflush(stdout);
}

void Soak::print_summary() const {
  std::printf("%-18s  %10s  %6s\n", "program", "rounds", "wrong");
  for (const auto& subject : subjects_)
    std::printf("%-18s  %10llu  %6llu\n", subject->kind.name,
                static_cast<unsigned long long>(subject->rounds),
                static_cast<unsigned long long>(subject->wrong));
  std::printf("%llu operations, %llu commits, %llu hits, %llu events: %s\n",
              static_cast<unsigned long long>(steps_),
              static_cast<unsigned long long>(engine_->switches().stats().commits),
              static_cast<unsigned long long>(hits_),
              static_cast<unsigned long long>(sink_->events()), failed_ ? "FAILED" : "whole");
}

bool run(std::chrono::seconds duration, uint64_t seed, const std::vector<std::string>& names) {
  std::printf("soak: %lld seconds, seed %llu\n", static_cast<long long>(duration.count()),
              static_cast<unsigned long long>(seed));
  std::fflush(stdout);
  Soak soak(seed, names);
  soak.attempt([&] { soak.run_until(Clock::now() + duration); });
  soak.attempt([&] { soak.end_tracing(); });
  soak.end_programs();
  soak.print_summary();
  return !soak.failed();
}

uint64_t seed_of(const char* text) {
  const uint64_t seed = text ? std::strtoull(text, nullptr, 10) : 0;
  return seed ? seed : std::random_device{}();
}

}  // namespace
}  // namespace tracectl::soak

int main(int argc, char** argv) {
  const long seconds = argc > 1 ? std::atol(argv[1]) : 0;
  if (seconds <= 0) {
    std::fprintf(stderr, "usage: soak SECONDS [SEED [PROGRAM...]]\n");
    return 2;
  }
  std::vector<std::string> names;
  if (argc > 3) names.assign(argv + 3, argv + argc);
  const uint64_t seed = tracectl::soak::seed_of(argc > 2 ? argv[2] : nullptr);
  return tracectl::soak::run(std::chrono::seconds(seconds), seed, names) ? 0 : 1;
}
