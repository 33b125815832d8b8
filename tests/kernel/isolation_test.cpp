// SPDX-License-Identifier: BSD-2-Clause
//
// Isolation: ten sessions on overlapping sites of a busy program, each created, changed and deleted
// at random. One session's actions change nothing that another observes.
//
// Five *keepers* trace their functions from before the first call until after the last, and change
// everything else: what they count in and by, when they read and zero it, which other settings
// overlap it. The sum of a keeper's counts of a function must be the program's own count.
//
// Five *comers* are created, get events of a few functions, of others, of none, and are deleted.
// They are checked by the events: the program calls its functions in a fixed order and numbers the
// calls, so two consecutive events of a thread show which calls between them were not recorded.
// None of these may be of a function that was set at that moment. That moment is known only from
// the epochs of the two events, and from the rule that the session's own commits take effect in
// their order, each at one point between two calls of the thread.
//
// TRACECTL_ISOLATION_SECONDS  how long (60)
// TRACECTL_ISOLATION_SEED     repeats the choices of a run, though not at the same calls
#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <map>
#include <random>

#include "tests/kernel/isolation_truth.h"
#include "tests/support/other_tracer.h"
#include "tests/support/tracer.h"

namespace tracectl::on_kernel {
namespace {

using std::chrono::steady_clock;

constexpr size_t kKeepers = 5;
constexpr size_t kComers = 5;

uint64_t number_from(const char* variable, uint64_t otherwise) {
  const char* text = std::getenv(variable);
  return text ? std::strtoull(text, nullptr, 10) : otherwise;
}

class Random {
 public:
  explicit Random(uint64_t seed) : numbers_(seed) {}

  uint64_t below(uint64_t limit) { return numbers_() % limit; }
  bool one_in(uint64_t n) { return below(n) == 0; }
  template <class T> const T& of(const std::vector<T>& choices) {
    return choices[below(choices.size())];
  }

 private:
  std::mt19937_64 numbers_;
};

// Ten functions, adjacent or far apart, that several keepers, one, or none of them trace.
Digits any_digits(Random& random) {
  Digits digits;
  for (int i = 0; i < 3; ++i) digits += static_cast<char>('0' + random.below(10));
  digits[random.below(3)] = '?';
  return digits;
}

// ---- sessions ----

// A probe without a semaphore. Another tracer holds its site with one, so the kernel refuses ours.
constexpr const char* kOccupied = "usdt::all:none";

// A session, as its user controls it.
class Player {
 public:
  Player(Engine& engine, std::string name, pid_t traced, pid_t refusing, Random& random)
      : engine_(engine),
        name_(std::move(name)),
        traced_(process(traced)),
        refusing_(process(refusing)),
        random_(random) {}

 protected:
  void stage(const std::string& pattern, const std::string& spec) {
    must(engine_.drafts().set(name_,
                              {{must(parse_pattern(pattern)), traced_, must(parse_spec(spec))}}));
  }
  void stage_removal(const std::string& pattern) {
    must(engine_.drafts().remove(name_, {must(parse_pattern(pattern))}, std::nullopt));
  }
  uint64_t commit() { return must(engine_.commits().commit(name_, {})).epoch; }

  // Fails whatever else was staged: the kernel refuses one more site after everything has been
  // written.
  void fail_to_commit() {
    must(engine_.drafts().set(
        name_, {{must(parse_pattern(kOccupied)), refusing_, must(parse_spec("count"))}}));
    EXPECT_FALSE(engine_.commits().commit(name_, {}));
    must(engine_.drafts().abort(name_));
  }

  Engine& engine_;
  const std::string name_;
  const Target traced_, refusing_;
  Random& random_;
};

class Keeper : public Player {
 public:
  // The functions of the first hundred, of the first two hundred...
  Keeper(Engine& engine, size_t number, pid_t traced, pid_t refusing, Random& random)
      : Player(engine, "keeper-" + std::to_string(number), traced, refusing, random),
        functions_(100 * (number + 1)),
        base_("uprobe::f0[0-" + std::to_string(number) + "]*") {
    must(engine_.create_session(name_));
    stage(base_, "count");
    commit();
  }

  void step() {
    switch (random_.below(6)) {
      case 0:
      case 1: return replace();
      case 2: return add(must(engine_.counting().read(name_, true)).results);
      case 3: return extra_.empty() ? overlap() : stop_overlapping();
      case 4: return try_in_vain();
      case 5: return change_their_mind();
    }
  }

  void expect_counted(const std::vector<uint64_t>& said) {
    add(must(engine_.counting().read(name_, random_.one_in(2))).results);
    for (uint64_t f = 0; f < functions_; ++f) EXPECT_EQ(counted_[f], said[f]) << name_ << " f" << f;
    EXPECT_EQ(dropped_, 0u);
  }

 private:
  std::string any_spec() {
    return random_.of<std::string>({"count", "count by tid", "count by pid"});
  }

  void replace() {
    stage(base_, any_spec());
    commit();
  }
  // The setting staged last applies where both are set, so hooks of the base setting come and go
  // with it.
  void overlap() {
    extra_ = pattern_of(any_digits(random_));
    stage(extra_, any_spec());
    commit();
  }
  void stop_overlapping() {
    stage_removal(extra_);
    commit();
    extra_.clear();
  }
  void try_in_vain() {
    stage(base_, any_spec());
    stage(pattern_of(any_digits(random_)), any_spec());
    fail_to_commit();
  }
  void change_their_mind() {
    stage_removal(base_);
    must(engine_.commits().commit(name_, {.dry_run = true}));
    must(engine_.drafts().abort(name_));
  }
  void add(const Results& results) {
    for (const auto& [key, row] : results.rows) counted_[function_number(key.probe)] += row.count;
    dropped_ += results.totals.dropped_keys;
  }

  const uint64_t functions_;
  const std::string base_;
  std::string extra_;
  std::map<uint64_t, uint64_t> counted_;
  uint64_t dropped_ = 0;
};

class Comer : public Player {
 public:
  Comer(Engine& engine, size_t number, pid_t traced, pid_t refusing, Random& random)
      : Player(engine, "comer-" + std::to_string(number), traced, refusing, random) {}

  void step() {
    if (!events_) return come();
    ASSERT_TRUE(set_.empty() ||
                events_->hears_all_threads_under(engine_.kernel().switching().epoch()))
        << name_ << " does not hear every thread";
    if (random_.one_in(6)) return go();
    if (random_.one_in(6)) return try_in_vain();
    change(random_.one_in(5) ? 0 : 1 + random_.below(2));
  }

  // When events are flushed and counts no longer change, both must be equal.
  void go() {
    if (!events_) return;
    const bool emptied = random_.one_in(2);
    if (emptied) change(0);
    must(engine_.streams().flush(name_));
    if (emptied) expect_counts_of_events();
    must(engine_.delete_session(name_));
    expect_true(history_, *events_);
    heard_ += total();
    events_.reset();
    history_.clear();
    set_.clear();
  }

  uint64_t heard() const { return heard_; }

 private:
  void come() {
    must(engine_.create_session(name_));
    events_ = std::make_shared<Events>(name_);
    must(engine_.streams().subscribe(name_, events_));
    change(1 + random_.below(2));
  }

  // Changes to so many patterns; one that is set already may stay.
  void change(size_t patterns) {
    std::vector<Digits> wanted;
    if (patterns > 0 && !set_.empty() && random_.one_in(2)) wanted.push_back(set_.front());
    while (wanted.size() < patterns)
      if (Digits digits = any_digits(random_); !contains(wanted, digits))
        wanted.push_back(std::move(digits));
    for (const Digits& digits : set_)
      if (!contains(wanted, digits)) stage_removal(pattern_of(digits));
    for (const Digits& digits : wanted) stage(pattern_of(digits), "count, event");
    history_.push_back({commit(), FunctionSet(wanted)});
    set_ = std::move(wanted);
  }
  void try_in_vain() {
    stage(pattern_of(any_digits(random_)), "count, event");
    fail_to_commit();
  }

  void expect_counts_of_events() {
    std::map<uint64_t, uint64_t> counts;
    for (const auto& [key, row] : must(engine_.counting().read(name_, false)).results.rows)
      if (row.count > 0) counts[function_number(key.probe)] += row.count;
    EXPECT_EQ(counts, events_->by_function()) << name_;
  }
  uint64_t total() const {
    uint64_t sum = 0;
    for (const auto& [function, count] : events_->by_function()) sum += count;
    return sum;
  }

  std::shared_ptr<Events> events_;  // null: the session does not exist
  std::vector<Digits> set_;
  History history_;
  uint64_t heard_ = 0;
};

class Isolation : public KernelTest {
 protected:
  void SetUp() override {
    if (::geteuid() != 0) GTEST_SKIP() << "arming probes needs root";
    start({.ring_bytes = 16 << 20});  // a lost event would be a gap
  }

  Site site(const Program& program, const char* pattern) {
    const auto found =
        must(engine->list({must(parse_pattern(pattern))}, process(program.pid()), {}));
    return found.parts.at(0).probes->at(0).sites.at(0);
  }
};

TEST_F(Isolation, WhatTenSessionsDoAtRandomChangesNothingThatAnotherObserves) {
  const uint64_t seed = number_from("TRACECTL_ISOLATION_SEED", std::random_device{}());
  SCOPED_TRACE("TRACECTL_ISOLATION_SEED=" + std::to_string(seed));
  RecordProperty("seed", std::to_string(seed));
  Random random(seed);
  Program program("counters", {std::to_string(kThreads), "0", std::to_string(kFunctions)});
  Program refusing("usdt_all", {"1"});
  const OtherTracer occupant(refusing.pid(), refusing.path(), site(refusing, kOccupied).offset,
                             site(refusing, "usdt::all:guarded").semaphore);

  std::vector<Keeper> keepers;
  std::vector<Comer> comers;
  keepers.reserve(kKeepers);
  for (size_t i = 0; i < kKeepers; ++i)
    keepers.emplace_back(*engine, i, program.pid(), refusing.pid(), random);
  for (size_t i = 0; i < kComers; ++i)
    comers.emplace_back(*engine, i, program.pid(), refusing.pid(), random);
  program.send("go");

  const auto last =
      steady_clock::now() + std::chrono::seconds(number_from("TRACECTL_ISOLATION_SECONDS", 60));
  while (steady_clock::now() < last && !HasFailure()) {
    const size_t who = random.below(kKeepers + kComers);
    if (who < kKeepers)
      keepers[who].step();
    else
      comers[who - kKeepers].step();
  }
  uint64_t events = 0;
  for (Comer& comer : comers) {
    comer.go();
    events += comer.heard();
  }
  program.send("stop");
  const auto said = parsed(program.finish());
  for (Keeper& keeper : keepers) keeper.expect_counted(said["counts"]);

  const auto& stats = engine->switches().stats();
  EXPECT_TRUE(HasFailure() || stats.commits > kKeepers + kComers);  // a minimum of activity
  std::cout << stats.commits << " commits, " << stats.failed_commits << " that failed, " << events
            << " events, " << said["total"] << " calls\n";
}

}  // namespace
}  // namespace tracectl::on_kernel
