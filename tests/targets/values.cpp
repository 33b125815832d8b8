// build: -O2 -g -pthread -fcf-protection=none
// SPDX-License-Identifier: BSD-2-Clause
//
// values THREADS ROUNDS
//
// Each thread fires the probe values:work ROUNDS times, with values of all kinds, and computes itself the
// results of conditions and aggregates, by the C++ next to each text.
//
// Expect: arg0 s64, arg1 s32, arg2 u64, arg3 the address of a string, arg4 u8, arg5 an address that cannot be
// read each seventh time, else that of a struct { int16_t a; uint32_t b; }; arg6 the address of a
// std::string, the same string as that of arg3; arg7 the address of the bytes of arg2.
#include <sys/sdt.h>

#include <cinttypes>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "stdin_protocol.h"

struct Pointed {
  int16_t a;
  uint32_t b;
};

struct Values {
  int64_t s;
  int32_t i;
  uint64_t u;
  std::string name;
  uint8_t byte;
  bool readable;
  Pointed pointed;
};

struct Condition {
  const char* text;
  bool (*holds)(const Values&);
};

static bool starts(const std::string& text, const char* with) { return text.rfind(with, 0) == 0; }

static const Condition kConditions[] = {
    {"arg0 > 5", [](const Values& v) { return v.s > 5; }},
    {"arg0 < 0 && arg1 < 0", [](const Values& v) { return v.s < 0 && v.i < 0; }},
    {"arg0 < -500 || arg1 >= 700 || arg4 == 3",
     [](const Values& v) { return v.s < -500 || v.i >= 700 || v.byte == 3; }},
    {"arg2 > 0x8000000000000000", [](const Values& v) { return v.u > 0x8000000000000000; }},
    // Unlike in C, a negative number is less than any unsigned one.
    {"arg0 < arg2", [](const Values& v) { return v.s < 0 || uint64_t(v.s) < v.u; }},
    {"(arg0 + arg1) % 7 == 3", [](const Values& v) { return (v.s + v.i) % 7 == 3; }},
    {"arg0 / -3 > 10", [](const Values& v) { return v.s / -3 > 10; }},
    {"(arg4 & 0x0f) == 5 && !(arg1 == 2)",
     [](const Values& v) { return (v.byte & 15) == 5 && v.i != 2; }},
    {"arg2 >> 60 == 9", [](const Values& v) { return v.u >> 60 == 9; }},
    {"arg1 << 2 == -8", [](const Values& v) { return v.i * 4 == -8; }},
    {"~arg0 == 4", [](const Values& v) { return ~v.s == 4; }},
    {"-arg0 > 100", [](const Values& v) { return -v.s > 100; }},
    {"100 / arg1 == 20", [](const Values& v) { return v.i && 100 / v.i == 20; }},
    {"str(arg3) == \"select\"", [](const Values& v) { return v.name == "select"; }},
    {"str(arg3) != \"select\"", [](const Values& v) { return v.name != "select"; }},
    {"str(arg3, 3) == \"ins\"", [](const Values& v) { return starts(v.name, "ins"); }},
    {"str(arg3) =~ \"*e?t*\"",
     [](const Values& v) {
       for (size_t at = 0; at + 2 < v.name.size(); ++at)
         if (v.name[at] == 'e' && v.name[at + 2] == 't') return true;
       return false;
     }},
    {"str(arg3) =~ \"[s-u]*\"",
     [](const Values& v) { return v.name[0] >= 's' && v.name[0] <= 'u'; }},
    {"str(arg3) =~ \"[!s-u]*\"",
     [](const Values& v) { return !v.name.empty() && (v.name[0] < 's' || v.name[0] > 'u'); }},
    {"comm == \"values-0\"", [](const Values&) { return false; }},  // by thread: see main
    {"s16(arg5) < 0", [](const Values& v) { return v.readable && v.pointed.a < 0; }},
    {"u32(arg5 + 4) >= 3000000000",
     [](const Values& v) { return v.readable && v.pointed.b >= 3000000000; }},
    {"u32(arg5 + 4) >= 3000000000 || arg4 == 1",  // an unreadable value does not match
     [](const Values& v) { return v.readable && (v.pointed.b >= 3000000000 || v.byte == 1); }},
    {"arg4 == 1 || u32(arg5 + 4) >= 3000000000",
     [](const Values& v) { return v.byte == 1 || (v.readable && v.pointed.b >= 3000000000); }},
    {"arg1 >= -3 && arg1 <= 700 && arg4 != 5 && tid != 1",
     [](const Values& v) { return v.i >= -3 && v.i <= 700 && v.byte != 5; }},
    {"arg2 <= 0x8000000000000000 && arg2 != 0",
     [](const Values& v) { return v.u <= 0x8000000000000000 && v.u != 0; }},
    {"!(arg0 > 5 || arg4 < 100)", [](const Values& v) { return !(v.s > 5 || v.byte < 100); }},
    {"arg0 >= 0x8000000000000001 || pid == 1", [](const Values&) { return false; }},
    {"arg0 < 0x8000000000000001 && pid != 1", [](const Values&) { return true; }},
    {"cstr(arg6) == \"update and a longer text\"",
     [](const Values& v) { return v.name == "update and a longer text"; }},
    {"cstr(arg6, 3) == \"ins\"", [](const Values& v) { return starts(v.name, "ins"); }},
    {"cstr(arg6) == \"\"", [](const Values& v) { return v.name.empty(); }},
    {"cstr(arg6) =~ \"*e*\" || cstr(0) == \"\"",
     [](const Values& v) { return v.name.find('e') != std::string::npos; }},
};
constexpr size_t kCount = sizeof(kConditions) / sizeof(kConditions[0]);
constexpr size_t kByThread = 19;

struct Sum {
  uint64_t count = 0;
  int64_t sum = 0, min = INT64_MAX, max = INT64_MIN;
};

struct Tally {
  uint64_t calls = 0;
  uint64_t holds[kCount] = {};
  std::map<std::string, Sum> by_name;     // of arg0
  std::map<int, uint64_t> log2;           // of arg1: 2^n to below 2^(n+1); -1: 0; -2: below 0
  uint64_t least = UINT64_MAX, most = 0;  // of arg2
  uint64_t unreadable = 0;
};

static Tally total;
static std::mutex total_lock;

static uint64_t next(uint64_t& state) {
  state ^= state << 13;
  state ^= state >> 7;
  return state ^= state << 17;
}

static Values make(uint64_t n, uint64_t& state) {
  static const char* const kNames[] = {"select",  "insert", "",     "update and a longer text",
                                       "insects", "u",      "tent", "été"};
  Values v;
  v.s = int64_t(next(state) % 2001) - 1000;
  v.i = int32_t(next(state) % 2001) - 1000;
  if (n % 5 == 0) v.i = int32_t(n % 3) - 1;
  v.u = next(state);
  v.name = kNames[next(state) % 8];
  v.byte = uint8_t(next(state));
  v.readable = n % 7 != 0;
  v.pointed = {int16_t(next(state)), uint32_t(next(state))};
  return v;
}

static int log2_of(int32_t value) {
  if (value < 0) return -2;
  int log = -1;
  while (value >> (log + 1)) ++log;
  return log;
}

static void tally_up(const Values& v, Tally& tally) {
  ++tally.calls;
  for (size_t i = 0; i < kCount; ++i) tally.holds[i] += kConditions[i].holds(v);
  Sum& sum = tally.by_name[v.name];
  ++sum.count;
  sum.sum += v.s;
  sum.min = std::min(sum.min, v.s);
  sum.max = std::max(sum.max, v.s);
  ++tally.log2[log2_of(v.i)];
  tally.least = std::min(tally.least, v.u);
  tally.most = std::max(tally.most, v.u);
  tally.unreadable += !v.readable;
}

static void add(const Tally& from, Tally& to) {
  to.calls += from.calls;
  for (size_t i = 0; i < kCount; ++i) to.holds[i] += from.holds[i];
  for (const auto& [name, sum] : from.by_name) {
    Sum& all = to.by_name[name];
    all.count += sum.count;
    all.sum += sum.sum;
    all.min = std::min(all.min, sum.min);
    all.max = std::max(all.max, sum.max);
  }
  for (const auto& [log, count] : from.log2) to.log2[log] += count;
  to.least = std::min(to.least, from.least);
  to.most = std::max(to.most, from.most);
  to.unreadable += from.unreadable;
}

__attribute__((noipa)) static void fire(const Values& v) {
  const char* const name = v.name.c_str();
  const void* const pointed = v.readable ? static_cast<const void*>(&v.pointed) : nullptr;
  // Local variables in registers; the byte stays in memory.
  int64_t s = v.s;
  int32_t i = v.i;
  uint64_t u = v.u;
  __asm__ volatile("" : "+r"(s), "+r"(i), "+r"(u));
  DTRACE_PROBE8(values, work, s, i, u, name, v.byte, pointed, &v.name, &v.u);
}

static void work(unsigned thread, uint64_t rounds) {
  pthread_setname_np(pthread_self(), ("values-" + std::to_string(thread)).c_str());
  Tally tally;
  uint64_t state = thread * 0x9e3779b97f4a7c15 + 88172645463325252u;
  for (uint64_t n = 0; n < rounds; ++n) {
    const Values v = make(n, state);
    tally_up(v, tally);
    fire(v);
  }
  if (thread == 0) tally.holds[kByThread] = rounds;
  const std::lock_guard lock(total_lock);
  add(tally, total);
}

static void print_text(const std::string& text) {
  putchar('"');
  for (const char c : text) {
    if (c == '"' || c == '\\') putchar('\\');
    putchar(c);
  }
  putchar('"');
}

static void print_tally() {
  printf("done\n{\"calls\":%" PRIu64 ",\"unreadable\":%" PRIu64 ",\"least\":%" PRIu64
         ",\"most\":%" PRIu64 ",\"holds\":{",
         total.calls, total.unreadable, total.least, total.most);
  for (size_t i = 0; i < kCount; ++i) {
    if (i) putchar(',');
    print_text(kConditions[i].text);
    printf(":%" PRIu64, total.holds[i]);
  }
  printf("},\"by_name\":{");
  const char* comma = "";
  for (const auto& [name, sum] : total.by_name) {
    printf("%s", comma);
    print_text(name);
    printf(":[%" PRIu64 ",%" PRId64 ",%" PRId64 ",%" PRId64 "]", sum.count, sum.sum, sum.min,
           sum.max);
    comma = ",";
  }
  printf("},\"log2\":{");
  comma = "";
  for (const auto& [log, count] : total.log2) {
    printf("%s\"%d\":%" PRIu64, comma, log, count);
    comma = ",";
  }
  printf("}}\n");
}

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const unsigned threads = static_cast<unsigned>(atoi(argv[1]));
  const uint64_t rounds = strtoull(argv[2], nullptr, 10);
  ready_and_wait_for_go();
  std::vector<std::thread> all;
  for (unsigned t = 0; t < threads; ++t) all.emplace_back(work, t, rounds);
  for (auto& thread : all) thread.join();
  print_tally();
  wait_for_exit();
}
