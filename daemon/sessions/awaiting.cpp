// SPDX-License-Identifier: BSD-2-Clause
//
// A commit looks at what runs then. This file learns what comes later, and following.cpp commits again for it. Each
// source of reports begins before the look, so everything after the look is reported:
// - A program executed in a followed cgroup, and a process that joins what a session has chosen at a fork or an exec:
//   the BPF programs report it.
// - A library: the dynamic linker of each process that may map one is armed in that process alone, and reports
//   libraries before their constructors run. After a commit that has armed new linkers there is one more look,
//   because files that were mapped meanwhile were not reported.
// - A file that replaces another at a path, as in an upgrade: the directories are watched.
#include "daemon/sessions/awaiting.h"

#include <fcntl.h>

#include <algorithm>
#include <new>
#include <utility>

#include "daemon/sessions/notice.h"

namespace tracectl {
namespace {

constexpr size_t kMostExecuted = 256;  // that wait to be looked at

constexpr size_t kMostFollowed = 256;  // files of a session

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

// The daemon opens no file for an owner, and a container could have files without end.
bool may_follow(const Session& session) {
  return !session.access.owner && session.access.followed.size() < kMostFollowed;
}

// The paths by which the session has chosen files that are armed for more than one process.
std::set<std::string> paths_of(const Session& session) {
  std::set<std::string> paths;
  for (const FollowedFile& file : session.access.followed)
    if (file.cgroup.empty()) paths.insert(file.object->path());
  return paths;
}

// Whether the session's file at this path was replaced, which changes the file's times. So a file with the
// same path in another mount namespace is not taken for it.
bool was_at(const std::string& path, const Session& session) {
  return std::any_of(session.access.followed.begin(), session.access.followed.end(),
                     [&](const FollowedFile& file) {
                       if (!file.cgroup.empty() || file.object->path() != path) return false;
                       const auto now = FileIdentity::of(file.object->fd());
                       return now && !(*now == file.object->identity());
                     });
}

// Gives the session the file that is there now, instead of the former one. The session's user may trace
// everything.
bool take_up(const std::string& path, Session& session) {
  Fd fd{::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
  return fd && session.access.give(std::move(fd), path);
}

bool take_up_if_replaced(const std::string& path, Session& session) {
  return may_follow(session) && was_at(path, session) && take_up(path, session);
}

}  // namespace

// Files that do not fit are found by the look that is due anyway; only their first process is not reported.
void Awaiting::note_exec(const tc_notice& notice) {
  for (auto& [name, session] : sessions_)
    for (const auto& [path, set] : session.cgroup_sets)
      if (has_set(notice, set) && may_follow(session) && session.executed.size() < kMostExecuted) {
        session.executed.push_back({.inode = notice.file.inode,
                                    .pid = static_cast<pid_t>(notice.pid),
                                    .ts_ns = notice.ts_ns});
        break;
      }
}

void Awaiting::note_mapped(const tc_notice& notice) {
  for (auto& [name, session] : sessions_)
    if (has(session.awaited.linkers, static_cast<pid_t>(notice.pid))) note(notice, session);
}

void Awaiting::note_joined(const tc_notice& notice) {
  for (auto& [name, session] : sessions_)
    if (session.access.awaits_libraries && has_joined(notice, session)) note(notice, session);
}

Status Awaiting::listen(Session& session, const std::vector<Setting>& settings) {
  if (auto followed = hooks_.follow_cgroups(session, settings); !followed) return followed;
  if (!session.access.awaits_libraries) return ok();
  for (const LinkerPtr& linker : session.awaited.linkers) linker->listen();
  return hooks_.listen_for_joining(session, settings);
}

Status Awaiting::arm_linkers(Intent& intent) {
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
    notes.push_back("libraries of " + std::to_string(left_out - kMostNamed) +
                    " more processes are not traced either");
  return ok();
}

void Awaiting::settle(Intent& intent) {
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

void Awaiting::watch_what_is_chosen(Session& session) try {
  hooks_.leave_cgroups(session, session.settings);
  hooks_.leave_executables(session, session.settings);
  std::set<std::string> all;
  for (const auto& [name, each] : sessions_) all.merge(paths_of(each));
  replaced_.watch(std::move(all));
} catch (const std::bad_alloc&) {}

void Awaiting::take_up_replaced(Session& session) {
  for (const std::string& path : paths_of(session)) (void)take_up_if_replaced(path, session);
}

void Awaiting::take_replaced() {
  const auto replaced = replaced_.take();
  for (auto& [name, session] : sessions_)
    for (const std::string& path : paths_of(session))
      if (replaced.contains(path)) session.was_replaced |= take_up_if_replaced(path, session);
}

bool Awaiting::more_may_come(const Session& session) {
  return session.access.awaits_libraries ||
         std::any_of(session.settings.begin(), session.settings.end(),
                     [](const Setting& setting) { return setting.target.follows_cgroups(); });
}

}  // namespace tracectl
