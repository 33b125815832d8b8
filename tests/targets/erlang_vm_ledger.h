// SPDX-License-Identifier: BSD-2-Clause
//
// Every probe of the virtual machine is passed through its ledger, which counts without any tracer how often
// each was passed with which names, sums up its numbers, and has bounds for the time from the probe at a
// beginning to the probe at its end.
//
// A name becomes text only if a tracer asks for it.
#pragma once

#include <time.h>

#include <algorithm>
#include <array>
#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <deque>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "targets/erlang_vm.h"

// The name of a process or a port; a number, for schedulers; or a text: a function, a reason, a registered
// name.
struct Name {
  enum class Kind : uint8_t { none, process, port, number, text };
  Kind kind = Kind::none;
  uint64_t number = 0;
  std::string_view words = {};

  auto operator<=>(const Name&) const = default;
};

inline Name process_name(uint64_t number) { return {Name::Kind::process, number}; }
inline Name port_name(uint64_t number) { return {Name::Kind::port, number}; }
inline Name number_name(uint64_t number) { return {Name::Kind::number, number}; }
inline Name text_name(std::string_view words) { return {Name::Kind::text, 0, words}; }

inline std::string text(const Name& name) {
  const std::string number = std::to_string(name.number);
  switch (name.kind) {
    case Name::Kind::none: return "";
    case Name::Kind::process: return "<0." + number + ".0>";
    case Name::Kind::port: return "#Port<0." + number + ">";
    case Name::Kind::number: return number;
    case Name::Kind::text: break;
  }
  return std::string(name.words);
}

// The clock that tracectl uses.
inline uint64_t now_ns() {
  timespec t;
  clock_gettime(CLOCK_BOOTTIME, &t);
  return uint64_t(t.tv_sec) * 1000000000 + uint64_t(t.tv_nsec);
}

inline uint64_t now_us() { return now_ns() / 1000; }

// The clock just before and just after a probe: the hit was in between.
struct Moment {
  uint64_t before = 0, after = 0;
  bool has_been() const { return after != 0; }
};

using Names = std::array<Name, 3>;
using Numbers = std::array<int64_t, 5>;

struct Tally {
  uint64_t all = 0, enabled = 0;
  Numbers sums = {};
  int64_t greatest = 0;  // of the second number: the longest queue
  // Those whose beginning is known: their count, and the sums of their least and greatest times.
  uint64_t matched = 0, inner = 0, outer = 0;

  void add(const Tally& other) {
    all += other.all, enabled += other.enabled;
    for (size_t i = 0; i < sums.size(); ++i) sums[i] += other.sums[i];
    greatest = std::max(greatest, other.greatest);
    matched += other.matched, inner += other.inner, outer += other.outer;
  }
};

using Tallies = std::map<std::pair<std::string_view, Names>, Tally>;  // by probe and names

// Each thread has its own; they are added up when all threads have ended.
class Ledger {
 public:
  static Ledger& of_this_thread() {
    thread_local Ledger& mine = new_one();
    return mine;
  }

  static Tallies total() {
    Tallies sum;
    for (const Ledger& one : all_)
      for (const auto& [key, tally] : one.tallies_) sum[key].add(tally);
    return sum;
  }

  Tally& at(std::string_view probe, const Names& names) { return tallies_[{probe, names}]; }

 private:
  static Ledger& new_one() {
    const std::lock_guard guard(mutex_);
    return all_.emplace_back();
  }

  static inline std::mutex mutex_;
  static inline std::deque<Ledger> all_;
  Tallies tallies_;
};

// A probe that was passed. It may be the end of something that began at another moment.
class Passed {
 public:
  Passed(Moment moment, Tally& tally) : moment_(moment), tally_(tally) {}

  const Passed& since(const Moment& begin) const {
    if (!begin.has_been()) return *this;
    ++tally_.matched;
    tally_.inner += moment_.before - begin.after;
    tally_.outer += moment_.after - begin.before;
    return *this;
  }

  operator Moment() const { return moment_; }

 private:
  Moment moment_;
  Tally& tally_;
};

template <class Fire>
Passed pass(std::string_view probe, const Names& names, const Numbers& numbers, bool enabled,
            Fire fire) {
  Tally& tally = Ledger::of_this_thread().at(probe, names);
  ++tally.all;
  tally.enabled += enabled;
  for (size_t i = 0; i < numbers.size(); ++i) tally.sums[i] += numbers[i];
  tally.greatest = std::max(tally.greatest, numbers[1]);
  Moment moment{now_ns(), 0};
  fire();
  moment.after = now_ns();
  return {moment, tally};
}

// PROBE with NAMES and NUMBERS for the ledger, and the arguments for the probe; the time is always the last
// argument. They are evaluated more than once.
#define PASS(PROBE, NAMES, NUMBERS, ...)                                 \
  pass(#PROBE, Names NAMES, Numbers NUMBERS, ERLANG_##PROBE##_ENABLED(), \
       [&] { ERLANG_##PROBE(__VA_ARGS__, now_us()); })

// Probes with two names, and those with a name and a number.
#define PASS_NAMES(PROBE, A, B) PASS(PROBE, ({A, B}), ({}), text(A).c_str(), text(B).c_str())
#define PASS_NUMBER(PROBE, A, N) PASS(PROBE, ({A}), ({N}), text(A).c_str(), int(N))

inline void print_tally(std::string_view probe, const Names& names, const Tally& tally) {
  printf("[\"%.*s\",[", int(probe.size()), probe.data());
  for (size_t i = 0; i < names.size() && names[i].kind != Name::Kind::none; ++i)
    printf("%s\"%s\"", i ? "," : "", text(names[i]).c_str());
  printf("],{\"all\":%" PRIu64 ",\"enabled\":%" PRIu64 ",\"sums\":[", tally.all, tally.enabled);
  for (size_t i = 0; i < tally.sums.size(); ++i) printf("%s%" PRId64, i ? "," : "", tally.sums[i]);
  printf("],\"greatest\":%" PRId64 ",\"matched\":%" PRIu64 ",\"inner\":%" PRIu64
         ",\"outer\":%" PRIu64 "}]",
         tally.greatest, tally.matched, tally.inner, tally.outer);
}

// As a list of [PROBE, [NAME...], {its figures}].
inline void print_ledger() {
  const char* comma = "";
  for (const auto& [key, tally] : Ledger::total()) {
    printf("%s", comma);
    print_tally(key.first, key.second, tally);
    comma = ",";
  }
}
