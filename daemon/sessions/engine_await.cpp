// SPDX-License-Identifier: BSD-2-Clause
//
// Libraries that are mapped after the commit that chose them. The dynamic linker of each process that may map
// such libraries is armed in that process alone, and reports them before their constructors run. The BPF
// programs report processes that join what a session has chosen, at fork and exec. Then follow() looks again.
// After a commit that has armed new linkers it looks once more by itself, because files that were mapped
// meanwhile were not reported.
#include <algorithm>

#include "daemon/sessions/engine.h"

namespace tracectl {
namespace {

constexpr size_t kMostLinkers = 256;  // of a session
constexpr size_t kMostSeen = 256;     // that wait to be looked at
constexpr size_t kMostNamed = 3;

std::string not_awaited(const Process& process, const std::string& why) {
  return "libraries that process " + std::to_string(process.pid()) +
         " loads later are not traced: " + why;
}

bool has(const std::vector<LinkerPtr>& linkers, pid_t pid) {
  return std::any_of(linkers.begin(), linkers.end(),
                     [&](const LinkerPtr& one) { return one->process().pid() == pid; });
}

bool has_joined(const tc_notice& notice, const Session& session) {
  const auto is_it = [&](const auto& entry) { return has_set(notice, entry.second); };
  const auto& of_executables = session.awaited.executable_sets;
  return std::any_of(of_executables.begin(), of_executables.end(), is_it) ||
         std::any_of(session.cgroup_sets.begin(), session.cgroup_sets.end(), is_it);
}

// A process that does not fit is found by the look for the others.
void note(const tc_notice& notice, Session& session) {
  if (session.awaited.seen.size() < kMostSeen)
    session.awaited.seen.push_back({static_cast<pid_t>(notice.pid), notice.ts_ns});
}

}  // namespace

void Engine::note_mapped(const tc_notice& notice) {
  for (auto& [name, session] : sessions_)
    if (has(session.awaited.linkers, static_cast<pid_t>(notice.pid))) note(notice, session);
}

void Engine::note_joined(const tc_notice& notice) {
  for (auto& [name, session] : sessions_)
    if (session.access.awaits_libraries && has_joined(notice, session)) note(notice, session);
}

// Call it before looking at running processes and their files: later ones are then reported.
Status Engine::hear_of_programs(Session& session, const std::vector<Setting>& settings) {
  if (auto followed = hooks_.follow_cgroups(session, settings); !followed) return followed;
  if (!session.access.awaits_libraries) return ok();
  for (const LinkerPtr& linker : session.awaited.linkers) linker->listen();
  return hooks_.hear_of_joining(session, settings);
}

Status Engine::await_libraries(Intent& intent) {
  intent.linkers.clear();
  size_t left_out = 0;
  auto& notes = intent.coverage.notes;
  for (const auto& process : intent.coverage.awaiting) {
    const bool is_one_too_many = intent.linkers.size() == kMostLinkers;
    auto linker = is_one_too_many
                      ? Result<LinkerPtr>(Error{Code::exhausted, "a session awaits libraries of " +
                                                                     std::to_string(kMostLinkers) +
                                                                     " processes at most"})
                      : linkers_.arm(process, resolver_, intent.session->access);
    if (auto read = resolver_.check_all_read(); !read) return read;
    if (linker)
      intent.linkers.push_back(std::move(*linker));
    else if (process->still_there() && left_out++ < kMostNamed)
      notes.push_back(not_awaited(*process, linker.error().message));
  }
  if (left_out > kMostNamed)
    notes.push_back("and so it is with " + std::to_string(left_out - kMostNamed) + " more");
  return ok();
}

void Engine::take_awaited(Intent& intent) {
  Session& session = *intent.session;
  Awaited& awaited = session.awaited;
  awaited.again = std::any_of(intent.linkers.begin(), intent.linkers.end(), [&](const auto& one) {
    return std::find(awaited.linkers.begin(), awaited.linkers.end(), one) == awaited.linkers.end();
  });
  awaited.linkers = std::move(intent.linkers);
  awaited.looked_ns = intent.began_ns;
  session.access.followed = std::move(intent.followed);
  session.access.libraries = std::move(intent.libraries);
}

}  // namespace tracectl
