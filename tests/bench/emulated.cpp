// SPDX-License-Identifier: BSD-2-Clause
//
// The daemon's emulator.
//
// How many probes at functions' entries and exits are single-stepped, by what Linux 6.18 emulates and with the emulator:
// counted in files of Debian, in those that are installed. And what the emulator does with a million random states of a
// thread, for each of its instructions: natively and as BPF, compared with the processor.
#include <fcntl.h>
#include <glob.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <random>
#include <string>
#include <vector>

#include "bpf/emulate.h"
#include "daemon/object/code/emulation.h"
#include "daemon/object/own_reading.h"
#include "tests/support/emulated_by_bpf.h"
#include "tests/support/hex_code.h"
#include "tests/support/processor.h"

using namespace tracectl;

namespace {

constexpr const char* kFiles[] = {
    "/usr/bin/python3.*[0-9]",
    "/usr/lib/x86_64-linux-gnu/libruby-*.so.*[0-9].*[0-9].*[0-9]",
    "/usr/lib/postgresql/*/bin/postgres",
    "/usr/lib/x86_64-linux-gnu/libc.so.6",
    "/usr/lib/x86_64-linux-gnu/libstdc++.so.6",
    "/usr/bin/node",
    "/usr/lib/jvm/*/lib/server/libjvm.so",
};

struct Share {
  size_t slow = 0, all = 0;

  void add(CostClass cost) {
    ++all;
    slow += cost == CostClass::slow;
  }
  void add(const Share& other) {
    slow += other.slow;
    all += other.all;
  }
  double percent() const {
    return all == 0 ? 0 : 100 * static_cast<double>(slow) / static_cast<double>(all);
  }
};

struct Shares {
  Share entries, exits;
  size_t returns = 0;  // slow entries that are returns
};

// `ret` and `repz ret`.
bool is_return(int fd, uint64_t offset) {
  std::array<uint8_t, 2> code{};
  if (::pread(fd, code.data(), code.size(), static_cast<off_t>(offset)) != 2) return false;
  return code[0] == 0xc3 || (code[0] == 0xf3 && code[1] == 0xc3);
}

void add_exits(const Site& site, Shares& shares) {
  if (!site.returns) return;
  for (const ExitSite& exit : site.returns->exits) shares.exits.add(exit.cost);
}

Shares shares_of(FileReader& file, int fd, const std::string& path, Emulates emulates) {
  Shares shares;
  Question question;
  question.pattern.object = path;
  question.pattern.function = "*";
  question.costs.emulates = emulates;
  if (const auto found = file.find(question))
    for (const Probe& probe : found->probes)
      for (const Site& site : probe.sites) {
        shares.entries.add(site.cost);
        shares.returns += site.cost == CostClass::slow && is_return(fd, site.offset);
      }
  question.returns = Returns::automatic;
  if (const auto found = file.find(question))
    for (const Probe& probe : found->probes)
      for (const Site& site : probe.sites) add_exits(site, shares);
  return shares;
}

void print(const std::string& name, const Shares& plain, const Shares& emulated) {
  std::printf("%-24s%10zu%11.1f%12.1f%10zu%11.1f%12.1f\n", name.c_str(), plain.entries.all,
              plain.entries.percent(), emulated.entries.percent(), plain.exits.all,
              plain.exits.percent(), emulated.exits.percent());
}

std::vector<std::string> paths_of(const char* pattern) {
  glob_t found{};
  std::vector<std::string> paths;
  if (::glob(pattern, 0, nullptr, &found) == 0)
    paths.assign(found.gl_pathv, found.gl_pathv + found.gl_pathc);
  ::globfree(&found);
  return paths;
}

void add(Shares& to, const Shares& more) {
  to.entries.add(more.entries);
  to.exits.add(more.exits);
  to.returns += more.returns;
}

// ---- states ----

constexpr size_t kStates = 1'000'000;

struct Differences {
  size_t native = 0, bpf = 0;
};

Differences compare(const char* text, EmulatedByBpf& bpf) {
  const auto code = bytes(text);
  const auto form = emulated_form(code, Standing::at_exit, Emulates::all).value();
  const Processor processor(code);
  std::mt19937_64 random(code.size() + code[0]);
  Differences found;
  std::vector<tc_thread_state> its(EMULATED_STATES);
  for (size_t done = 0; done < kStates; done += EMULATED_STATES) {
    const auto states = bpf.states();
    for (size_t i = 0; i < states.size(); ++i) {
      states[i] = random_state(random, form, processor);
      its[i] = processor.run(states[i].thread);
      tc_thread_state ours = states[i].thread;
      emulate(&form, &ours, states[i].memory);
      found.native += !is_same(form, ours, its[i]);
    }
    bpf.run(form);
    for (size_t i = 0; i < states.size(); ++i)
      found.bpf += !is_same(form, states[i].thread, its[i]);
  }
  return found;
}

void compare_all() {
  if (::geteuid() != 0) {
    std::printf("states: loading programs needs root\n");
    return;
  }
  EmulatedByBpf bpf;
  Differences all;
  const auto instructions = emulated_instructions();
  for (const char* text : instructions) {
    const Differences found = compare(text, bpf);
    if (found.native + found.bpf != 0)
      std::printf("%s: %zu differ natively, %zu as BPF\n", text, found.native, found.bpf);
    all.native += found.native;
    all.bpf += found.bpf;
  }
  std::printf("%zu instructions, %zu states each: %zu differ natively, %zu as BPF%s\n",
              instructions.size(), kStates, all.native, all.bpf,
              all.native + all.bpf == 0 ? "  0  met" : "  MISSED");
}

}  // namespace

int main() {
  std::printf("%-24s%33s%33s\n%-24s%10s%11s%12s%10s%11s%12s\n", "", "functions, % single-stepped",
              "exits, % single-stepped", "file", "number", "by kernel", "+ emulator", "number",
              "by kernel", "+ emulator");
  OwnReading reading;
  Shares plain_of_all, without_loads_of_all, emulated_of_all;
  for (const char* pattern : kFiles)
    for (const std::string& path : paths_of(pattern)) {
      const Fd code{::open(path.c_str(), O_RDONLY | O_CLOEXEC)};
      const auto file =
          reading.open(Fd{::open(path.c_str(), O_RDONLY | O_CLOEXEC)}, path, std::nullopt);
      if (!file) continue;
      const auto shares = [&](Emulates emulates) {
        return shares_of(**file, code.get(), path, emulates);
      };
      const Shares plain = shares(Emulates::nothing), emulated = shares(Emulates::all);
      print(path.substr(path.rfind('/') + 1), plain, emulated);
      add(plain_of_all, plain);
      add(without_loads_of_all, shares(Emulates::all_but_loads));
      add(emulated_of_all, emulated);
    }
  print("all", plain_of_all, emulated_of_all);
  print("all, loads stepped", plain_of_all, without_loads_of_all);
  std::printf("slow entries with the emulator: %zu, of which %zu are returns\n",
              emulated_of_all.entries.slow, emulated_of_all.returns);
  compare_all();
}
