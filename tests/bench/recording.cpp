// SPDX-License-Identifier: BSD-2-Clause
//
// Trace files of events with three arguments: bytes per event, events recorded per second and the cost of
// that, compared with a bare reader of rings, and events read per second.
#include "daemon/recording/reader.h"

#include <fcntl.h>

#include <fstream>
#include <variant>

#include "daemon/base/clock.h"
#include "daemon/recording/encoder.h"
#include "daemon/stream/recorder.h"
#include "tests/bench/bare_rings.h"
#include "tests/bench/folder.h"
#include "tests/bench/hit_setup.h"

namespace tracectl::bench {
namespace {

using namespace on_kernel;
using recording::Compression;

constexpr uint64_t kCallsAtFullSpeed = 2'000'000;  // of each thread
constexpr uint64_t kEncoded = 2'000'000;
constexpr int kSpeedRounds = 7;

// ---- two threads at full speed, each in its own program ----

class Pair {
 public:
  Program& one() { return one_; }
  Program& other() { return other_; }
  Target both() const {
    Target target;
    target.pids = {one_.pid(), other_.pid()};
    return target;
  }

  // CPU time used by both.
  uint64_t cpu_ns() const { return cpu_ns_of(one_) + cpu_ns_of(other_); }

  // Calls per second, of both together.
  double speed(const Site& site, uint64_t calls) {
    const std::string line = std::string(site.function) + " " + std::to_string(calls);
    one_.send(line);
    other_.send(line);
    const double ns = std::max(ns_said_by(one_), ns_said_by(other_));
    return 2e9 * static_cast<double>(calls) / ns;
  }

 private:
  static uint64_t cpu_ns_of(const Program& program) {
    std::ifstream stat("/proc/" + std::to_string(program.pid()) + "/schedstat");
    uint64_t ns = 0;
    stat >> ns;
    return ns;
  }
  static double ns_said_by(Program& program) {
    return nlohmann::json::parse(program.finish())["ns"].get<double>();
  }

  Program one_{"hot", {}}, other_{"hot", {}};
};

struct Recorded {
  uint64_t events = 0, lost = 0, bytes = 0;
  double calls_per_s = 0;
  double cpu_ns = 0;      // of all threads but this one, per event
  double hit_cpu_ns = 0;  // of the programs, per event
};

// The CPU time used by the other threads of this process, as this one only waits, and by the programs.
class CpuTime {
 public:
  explicit CpuTime(const Pair& programs) : programs_(programs) {}

  void until_now(uint64_t events, Recorded& to) const {
    to.cpu_ns = static_cast<double>(others_ns() - began_ns_) / static_cast<double>(events);
    to.hit_cpu_ns =
        static_cast<double>(programs_.cpu_ns() - programs_began_ns_) / static_cast<double>(events);
  }

 private:
  static uint64_t others_ns() {
    return clock_ns(CLOCK_PROCESS_CPUTIME_ID) - clock_ns(CLOCK_THREAD_CPUTIME_ID);
  }

  const Pair& programs_;
  const uint64_t began_ns_ = others_ns();
  const uint64_t programs_began_ns_ = programs_.cpu_ns();
};

class Recording {
 public:
  Recording()
      : engine_(must(Engine::start(must(Kernel::open({.fast_nops = true})), EngineOptions{}))) {}

  Pair& programs() { return programs_; }

  // Into a new file at that path.
  Recorded record(const std::string& path, Compression compression, const Site& site,
                  uint64_t calls) {
    Fd file{::open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600)};
    const auto recorder = must(Recorder::start(std::move(file), compression));
    arm(site);
    must(engine_->streams().subscribe("bench", recorder));
    const CpuTime took(programs_);
    Recorded got;
    got.calls_per_s = programs_.speed(site, calls);
    must(engine_->streams().flush("bench"));
    engine_->streams().unsubscribe("bench", recorder.get());
    recorder->end();
    if (!recorder->wait_ms(60'000)) throw std::runtime_error("the file is not written");
    const Recorder::State state = recorder->state();
    if (state.error) throw std::runtime_error(state.error->message);
    got.events = state.events;
    got.lost = state.lost;
    got.bytes = state.bytes;
    took.until_now(2 * calls, got);
    must(engine_->delete_session("bench"));
    if (got.events + got.lost != 2 * calls)
      throw std::runtime_error("recorded " + std::to_string(got.events));
    return got;
  }

  Recorded read_bare(const Site& site, uint64_t calls) {
    const Fd link = bare_.arm(programs_.one(), site),
             other_link = bare_.arm(programs_.other(), site);
    const CpuTime took(programs_);
    BareRings::Reading reading(bare_);
    Recorded got;
    got.calls_per_s = programs_.speed(site, calls);
    got.events = reading.end();
    got.lost = 2 * calls - got.events;
    took.until_now(2 * calls, got);
    return got;
  }

 private:
  void arm(const Site& site) {
    must(engine_->create_session("bench"));
    const std::string pattern = std::string("usdt::hot:") + site.probe;
    Setting set{must(parse_pattern(pattern)), programs_.both(), must(parse_spec("event")),
                Returns::automatic};
    must(engine_->drafts().set("bench", {std::move(set)}));
    must(engine_->commits().commit("bench", {}));
  }

  Pair programs_;
  std::unique_ptr<Engine> engine_;
  BareRings bare_{EngineOptions{}.ring_bytes};
};

// ---- rows ----

void bytes_of_an_event(Recording& setup, const std::string& path, Compression compression,
                       const char* how) {
  constexpr uint64_t kFew = 40'000;  // fits into a ring, so none is lost
  const auto bytes = [&] {
    const Recorded got = setup.record(path, compression, kFast, kFew);
    if (got.lost) throw std::runtime_error("events were lost");
    return static_cast<double>(got.bytes) / static_cast<double>(got.events);
  };
  const Values all = repeat(3, bytes);
  print_row(std::string("bytes of an event, ") + how, spread(all, "%.1f"), "", "",
            reach(median(all), 12));
}

void full_speed(Recording& setup, const std::string& path, Compression compression,
                const char* how) {
  Pairs speed, cpu, hit;
  uint64_t lost = 0, lost_bare = 0;
  for (int i = 0; i < kSpeedRounds; ++i) {
    const Recorded bare = setup.read_bare(kFast, kCallsAtFullSpeed);
    const Recorded ours = setup.record(path, compression, kFast, kCallsAtFullSpeed);
    speed.other.push_back(bare.calls_per_s / 1e6);
    speed.ours.push_back(ours.calls_per_s / 1e6);
    cpu.other.push_back(bare.cpu_ns);
    cpu.ours.push_back(ours.cpu_ns);
    hit.other.push_back(bare.hit_cpu_ns);
    hit.ours.push_back(ours.hit_cpu_ns);
    lost += ours.lost;
    lost_bare += bare.lost;
  }
  const std::string what = std::string("recorded") + how + ", over a bare ring reader, ";
  print_row(what + "M/s", speed, reach_at_least(median(speed.ratios()), 0.9), "%.2f");
  print_row(what + "CPU ns an event", cpu, reach(median(cpu.ours), 30), "%.1f");
  print_row(what + "CPU ns of the hit itself", hit, "", "%.0f");
  print_row(what + "lost", std::to_string(lost), std::to_string(lost_bare), "",
            reach(static_cast<double>(lost), 0));
}

// Reads the last recording with a program that looks at every event.
void reading(const std::string& path, const char* how) {
  const auto speed = [&] {
    auto reader = must(recording::Reader::open(Fd{::open(path.c_str(), O_RDONLY | O_CLOEXEC)}));
    uint64_t events = 0, sum = 0;
    const auto look = [&](const StreamItem& item) {
      if (const auto* event = std::get_if<Event>(&item)) {
        ++events;
        sum += static_cast<uint64_t>(event->tid) + event->args[0].value_or(0);
      }
      return true;
    };
    const uint64_t before_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
    must(reader.read({}, look));
    const uint64_t took_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID) - before_ns;
    if (sum == 0) throw std::runtime_error("the file has other events");
    return static_cast<double>(events) * 1e3 / static_cast<double>(took_ns);
  };
  const Values all = repeat(kSpeedRounds, speed);
  print_row(std::string("read") + how + ", M events a second of a core", spread(all, "%.1f"), "",
            "", reach_at_least(median(all), 10));
}

// The encoder alone: events of two threads on two CPUs. `made` sets the members in which they differ.
template <class Item, class Made> void encoding(const char* what, Item& item, Made made) {
  const auto ns = [&] {
    recording::Encoder encoder;
    const uint64_t before_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
    for (uint64_t i = 0; i < kEncoded; ++i) {
      made(i, i / 1000 % 2);  // a ring is read for a while before the next one
      encoder.add(item);
      if (encoder.has_ended()) encoder.take();
    }
    return static_cast<double>(clock_ns(CLOCK_THREAD_CPUTIME_ID) - before_ns) / kEncoded;
  };
  print_row(std::string(what) + " encoded, CPU ns", spread(repeat(kSpeedRounds, ns), "%.1f"), "",
            "", "");
}

template <class Event> void of_thread(Event& event, uint64_t i, unsigned cpu) {
  event.cpu = cpu;
  event.pid = event.tid = static_cast<pid_t>(4711 + cpu);
  event.ts_ns = 300 * i;
  event.args[0] = i;
  event.args[1] = 2;
  event.args[2] = i + 1;
}

void encoding() {
  Argument number;
  number.size_bytes = 8;
  const auto source = std::make_shared<const EventSource>(
      EventSource{"usdt:/usr/bin/hot:hot:fast", "bench", {number, number, number}});
  PlainHit hit{.comm = RawComm("hot"), .source = &source, .readable = 7, .arg_count = 3};
  encoding("a hit", hit, [&](uint64_t i, unsigned cpu) { of_thread(hit, i, cpu); });
  StreamItem item;
  Event& event = item.emplace<Event>();
  event.comm = "hot";
  event.source = source;
  event.args.resize(3);
  encoding("an event", item, [&](uint64_t i, unsigned cpu) { of_thread(event, i, cpu); });
}

void run() {
  print_heading();
  encoding();
  Recording setup;
  const Folder folder;
  const std::string path = folder.path() + "/recording.tct";
  bytes_of_an_event(setup, path, Compression::none, "3 integer arguments");
  bytes_of_an_event(setup, path, Compression::zstd, "3 integer arguments, compressed");
  full_speed(setup, path, Compression::none, "");
  reading(path, "");
  full_speed(setup, path, Compression::zstd, " compressed");
  reading(path, " compressed");
}

}  // namespace
}  // namespace tracectl::bench

int main() { tracectl::bench::run(); }
