// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/control/upkeep.h"

#include <malloc.h>

#include <new>
#include <utility>
#include <variant>

#include "daemon/base/clock.h"
#include "daemon/control/log.h"
#include "daemon/control/request_limits.h"

namespace tracectl {
namespace {

constexpr uint64_t kDumpLookNs = 100'000'000;  // how often dumps are checked
// How often memory is given back, at most: trimming a large heap takes tens of milliseconds.
constexpr uint64_t kTrimNs = 1'000'000'000;

void set(EventLoop::Timer& timer, uint64_t boot_ns) {
  if (auto done = timer.set(boot_ns); !done) log_error("{}", done.error().message);
}

}  // namespace

void Upkeep::Deadline::set(uint64_t due_ns) {
  if (!due_ns || due_ns == set_to_ns) return;
  set_to_ns = due_ns;
  tracectl::set(timer, due_ns);
}

Result<std::unique_ptr<Upkeep>> Upkeep::start(EventLoop& loop, Engine& engine, Commands& commands) {
  std::unique_ptr<Upkeep> upkeep{new Upkeep(engine, commands)};
  if (auto watching = upkeep->watch(loop); !watching) return watching.error();
  if (auto made = upkeep->make_timers(loop); !made) return made.error();
  return upkeep;
}

Status Upkeep::watch(EventLoop& loop) {
  auto noticing = assign(noticing_, loop.watch(engine_.notices().fd(), EventLoop::kReadable,
                                               [this](uint32_t) { take_notices(); }));
  const int replaced = engine_.awaiting().replaced_fd();
  if (!noticing || replaced < 0) return noticing;
  return assign(replacing_,
                loop.watch(replaced, EventLoop::kReadable, [this](uint32_t) { take_replaced(); }));
}

Status Upkeep::make_timers(EventLoop& loop) {
  for (const auto& [timer, callback] :
       {std::pair{&lingering_.timer, &Upkeep::end_lingering},
        std::pair{&budgeting_.timer, &Upkeep::keep_budgets},
        std::pair{&following_.timer, &Upkeep::follow_programs},
        std::pair{&dumping_, &Upkeep::look_after_dumps}, std::pair{&beating_, &Upkeep::beat},
        std::pair{&trimming_, &Upkeep::trim}}) {
    auto made = assign(*timer, loop.timer([this, call = callback] { (this->*call)(); }));
    if (!made) return made;
  }
  return ok();
}

void Upkeep::set_timers() {
  following_.set(engine_.following().next_ns());
  lingering_.set(engine_.switches().next_linger_end_ns());
  budgeting_.set(engine_.budgets().next_look_ns());
}

void Upkeep::end_lingering() {
  lingering_.set_to_ns = 0;
  if (auto ended = engine_.switches().end_lingering(); !ended)
    log_warning("unused sites stay armed for longer: {}", ended.error().message);
  lingering_.set(engine_.switches().next_linger_end_ns());
}

void Upkeep::keep_budgets() {
  budgeting_.set_to_ns = 0;
  commands_.sessions().keep_budgets();
  budgeting_.set(engine_.budgets().next_look_ns());
}

void Upkeep::follow_programs() {
  following_.set_to_ns = 0;
  follow();
  following_.set(engine_.following().next_ns());
}

void Upkeep::follow() try {
  for (const FollowSummary& done : engine_.following().follow()) {
    if (!done.done)
      log_warning("follow session={} failed: {}", done.session, done.done.error().message);
    for (const Followed& file : done.files)
      log_info("follow session={} object={} cgroup={} pid={} unobserved_us={}", done.session,
               file.path, file.cgroup, file.pid, file.unobserved_ns / 1000);
  }
} catch (const std::bad_alloc&) {
  log_error("follow failed: {}", out_of_memory().message);
}

void Upkeep::take_notices() {
  for (const Notice& notice : engine_.notices().take())
    if (const auto* asked = std::get_if<DumpAsked>(&notice))
      commands_.flight_recorders().dump_triggered(*asked);
    else
      commands_.flight_recorders().dump_ended(std::get<SeenEnd>(notice));
  follow();
  look_after_dumps();
  following_.set(engine_.following().next_ns());
}

void Upkeep::take_replaced() {
  engine_.awaiting().take_replaced();
  follow_programs();
}

void Upkeep::dump_recorders(const std::string& reason) {
  commands_.flight_recorders().dump_all(reason);
  look_after_dumps();
}

void Upkeep::dump_failed(const UnitFailure& failure) {
  commands_.flight_recorders().dump_failed(failure);
  look_after_dumps();
}

void Upkeep::look_after_dumps() {
  if (commands_.flight_recorders().look_after()) set(dumping_, boot_ns() + kDumpLookNs);
}

void Upkeep::give_memory_back() {
  if (!std::exchange(awaits_trim_, true)) set(trimming_, boot_ns() + kTrimNs);
}

void Upkeep::trim() {
  awaits_trim_ = false;
  ::malloc_trim(0);
}

// The timer also runs while no session is saved, so that saving the first one need not start it.
void Upkeep::beat() {
  if (!commands_.saved().can_save()) return;
  if (commands_.saved().has_any()) commands_.saved().beat();
  set(beating_, boot_ns() + SavedSessions::kBeatNs);
}

}  // namespace tracectl
