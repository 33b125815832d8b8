// SPDX-License-Identifier: BSD-2-Clause
//
// The memory and time for reading a recording, which must not depend on its size. The recording has 512 MiB,
// or TRACECTL_BENCH_RECORDING_GB GB: then six times as much disk space is needed.
#include <fcntl.h>
#include <sys/resource.h>

#include <charconv>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <random>

#include "daemon/recording/encoder.h"
#include "daemon/stream/block_file.h"
#include "tests/bench/command.h"
#include "tests/bench/folder.h"
#include "tests/bench/measure.h"
#include "tests/support/must.h"
#include "tests/support/program.h"

namespace tracectl::bench {
namespace {

using namespace on_kernel;

constexpr uint64_t kUsualBytes = 512ull << 20;
constexpr const char* kGigabytes = "TRACECTL_BENCH_RECORDING_GB";
constexpr double kMostMegabytes = 200;

uint64_t wanted_bytes() {
  const char* text = std::getenv(kGigabytes);
  if (!text) return kUsualBytes;
  uint64_t gigabytes = 0;
  const char* end = text + std::strlen(text);
  if (std::from_chars(text, end, gigabytes).ptr != end || gigabytes == 0 || gigabytes > 1000)
    throw std::runtime_error(std::string(kGigabytes) + " is a number of GB, 1 to 1000");
  return gigabytes * 1'000'000'000;
}

// ---- a simulated program ----

// Threads whose functions call each other, some levels deep, and sometimes hit a probe: three million events
// a second.
class BusyProgram {
 public:
  BusyProgram() {
    Argument number;
    number.size_bytes = 8;
    number.name = "n";
    for (int i = 0; i < kFunctions; ++i)
      functions_.push_back(source("uprobe:/usr/bin/busy:function_" + std::to_string(i), {number}));
    probe_ = source("usdt:/usr/bin/busy:busy:turn", {number, number, number});
    event_.comm = "busy";
  }

  const StreamItem& next() {
    now_ns_ += 100 + random_() % 467;
    Thread& thread = threads_[turn_++ / kTurn % kThreads];
    const auto i = static_cast<unsigned>(&thread - threads_);
    event_.ts_ns = now_ns_;
    event_.cpu = i % kCpus;
    event_.pid = kPid;
    event_.tid = kPid + static_cast<pid_t>(i);
    event_.call.reset();
    event_.duration_ns.reset();
    const uint64_t chance = random_();
    if (chance % 16 == 0)
      hit(chance);
    else if (thread.open.empty() || (thread.open.size() < kDeepest && chance & 16))
      begin(thread, chance);
    else
      end(thread);
    return item_;
  }

 private:
  static constexpr int kFunctions = 40;
  static constexpr unsigned kThreads = 4, kCpus = 2;
  static constexpr uint64_t kTurn = 1000;  // events of a thread before the next one
  static constexpr size_t kDeepest = 6;
  static constexpr pid_t kPid = 4711;

  struct Call {
    size_t function;
    uint32_t number;
    uint64_t began_ns;
  };
  struct Thread {
    std::vector<Call> open;
    uint32_t calls = 0;
  };

  static std::shared_ptr<const EventSource> source(const std::string& probe, Arguments arguments) {
    return std::make_shared<const EventSource>(
        EventSource{probe, "bench", std::move(arguments), std::nullopt});
  }

  void hit(uint64_t chance) {
    event_.kind = EventKind::hit;
    event_.source = probe_;
    event_.args = {turn_, chance % 1000, 7};
  }
  // Each function calls two others, so that the number of call chains is realistic, not random.
  void begin(Thread& thread, uint64_t chance) {
    const size_t caller = thread.open.empty() ? 0 : thread.open.back().function;
    const Call call{(2 * caller + 1 + (chance >> 5 & 1)) % kFunctions, ++thread.calls, now_ns_};
    event_.kind = EventKind::hit;
    event_.source = functions_[call.function];
    event_.args = {turn_};
    event_.call = CallMark{call.number, static_cast<uint32_t>(thread.open.size())};
    thread.open.push_back(call);
  }
  void end(Thread& thread) {
    const Call call = thread.open.back();
    thread.open.pop_back();
    event_.kind = EventKind::returned;
    event_.source = functions_[call.function];
    event_.args.clear();
    event_.call = CallMark{call.number, static_cast<uint32_t>(thread.open.size())};
    event_.duration_ns = now_ns_ - call.began_ns;
  }

  std::vector<std::shared_ptr<const EventSource>> functions_;
  std::shared_ptr<const EventSource> probe_;
  Thread threads_[kThreads];
  std::mt19937_64 random_;
  uint64_t turn_ = 0;
  uint64_t now_ns_ = 1'000'000'000;
  StreamItem item_{std::in_place_type<Event>};
  Event& event_ = std::get<Event>(item_);
};

// Returns the number of events.
uint64_t write_recording(const std::string& path, uint64_t bytes) {
  BlockFile file(Fd{::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600)},
                 recording::Compression::none);
  must(file.begin());
  recording::Encoder encoder;
  BusyProgram program;
  uint64_t events = 0;
  while (file.bytes() < bytes) {
    encoder.add(program.next());
    ++events;
    for (recording::Block& block : encoder.take()) must(file.append(std::move(block)));
  }
  return events;
}

// ---- rows ----

struct Took {
  double megabytes;
  double seconds;
};

// A child's peak is at least that of this program at the fork, which is small.
Took took(std::vector<std::string> words) {
  words.insert(words.begin(), {build_folder() + "/tracectl", "-q"});
  const uint64_t before_ns = now_ns();
  Command command(words);
  if (command.wait() != 0) throw std::runtime_error("tracectl " + words[2] + " failed");
  return {static_cast<double>(command.used().ru_maxrss) * 1024 / 1e6,
          static_cast<double>(now_ns() - before_ns) / 1e9};
}

void row(const char* what, const std::vector<std::string>& words, bool is_bound = true) {
  const Took it = took(words);
  char text[48];
  std::snprintf(text, sizeof(text), "%.0f MB, %.1f s", it.megabytes, it.seconds);
  print_row(what, text, "", "", is_bound ? reach(it.megabytes, kMostMegabytes, "%g MB") : "");
}

void run() {
  const Folder folder;
  const std::string file = folder.path() + "/recording.tct";
  const uint64_t events = write_recording(file, wanted_bytes());
  char size[64];
  std::snprintf(size, sizeof(size), "%.2f GB, %.0f M events",
                static_cast<double>(std::filesystem::file_size(file)) / 1e9,
                static_cast<double>(events) / 1e6);
  print_heading();
  print_row("a recording to be read", size, "", "", "");
  row("report", {"report", file});
  row("report --do", {"report", file, "--do", "count by probe"});
  row("report --timeline", {"report", file, "--timeline"});
  row("show, one second of it", {"show", file, "--since", "1s", "--until", "2s"});
  for (const std::string format : {"folded", "pprof", "perfetto", "jsonl"})
    row(("export --to " + format).c_str(), {"export", file, "--to", format, "-o", "/dev/null"});
  row("export --to ctf", {"export", file, "--to", "ctf", "-o", folder.path() + "/ctf"});
  row("report --html", {"report", file, "--html", "/dev/null"}, false);
}

}  // namespace
}  // namespace tracectl::bench

int main() { tracectl::bench::run(); }
