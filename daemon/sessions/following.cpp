// SPDX-License-Identifier: BSD-2-Clause
//
// Commits for files that come after the commit that chose them. A program that is executed in a cgroup is armed for
// all that run it there, so that each file runs unobserved only once, between the exec and the switch, and that
// time is reported. A file that replaces another at a path is armed in addition to the former one. A library is
// armed in the process that has mapped it. Containers that are created later under a name that was chosen join when a
// client has found their cgroups.
#include "daemon/sessions/following.h"

#include <algorithm>
#include <set>
#include <utility>

#include "daemon/base/clock.h"
#include "daemon/process/running.h"

namespace tracectl {
namespace {

constexpr size_t kMostReported = 64;  // of a session

// Bounds the looks: a program can load and unload libraries without end, and each time the linker's function
// for debuggers is called twice, before and after mapping.
constexpr uint64_t kBetweenLooksNs = 100'000'000;

// Does not compare times, which change when another file takes its name.
bool is_same_file(const Object& a, const Object& b) {
  return a.identity().device == b.identity().device && a.identity().inode == b.identity().inode;
}

bool is_known(const std::vector<FollowedFile>& files, const FollowedFile& sought) {
  return std::any_of(files.begin(), files.end(), [&](const FollowedFile& file) {
    return file.cgroup == sought.cgroup && is_same_file(*file.object, *sought.object);
  });
}

// The first process that runs the file which was put in place.
std::optional<ExecutedFile> first_that_runs(const Object& object) {
  const FileIdentity& file = object.identity();
  std::optional<ExecutedFile> first;
  for (const pid_t pid : processes_running(file.device, file.inode))
    if (const auto start_ns = started_ns(pid); start_ns && (!first || *start_ns < first->ts_ns))
      first = ExecutedFile{.inode = file.inode, .pid = pid, .ts_ns = *start_ns};
  return first;
}

// The reports since `since_ns` for one look. If some are missing, the processes that run a file show the rest.
struct ExecReports {
  std::vector<ExecutedFile> executed;
  uint64_t since_ns = 0;
  bool all = true;
};

// The process that has executed the file first.
std::optional<ExecutedFile> first_to_run(const FollowedFile& file, const ExecReports& reports) {
  if (file.cgroup.empty()) return first_that_runs(*file.object);
  const auto by = std::find_if(
      reports.executed.begin(), reports.executed.end(),
      [&](const ExecutedFile& one) { return one.inode == file.object->identity().inode; });
  if (by != reports.executed.end()) return *by;
  auto first = reports.all ? std::nullopt : first_that_runs(*file.object);
  if (first) first->ts_ns = std::max(first->ts_ns, reports.since_ns);
  return first;
}

// The files that the session has begun to follow.
std::vector<Followed> newly_followed(const Session& session,
                                     const std::vector<FollowedFile>& before,
                                     const ExecReports& reports) {
  const uint64_t now_ns = boot_ns();
  std::vector<Followed> added;
  for (const FollowedFile& file : session.access.followed) {
    if (is_known(before, file)) continue;
    Followed followed{.path = file.object->path(), .cgroup = file.cgroup};
    if (const auto by = first_to_run(file, reports)) {
      followed.pid = by->pid;
      followed.ts_ns = by->ts_ns;
      followed.unobserved_ns = now_ns > by->ts_ns ? now_ns - by->ts_ns : 0;
    }
    added.push_back(std::move(followed));
  }
  return added;
}

bool is_known(const std::vector<FollowedLibrary>& libraries, const FollowedLibrary& sought) {
  return std::any_of(libraries.begin(), libraries.end(), [&](const FollowedLibrary& library) {
    return library.pid == sought.pid && library.birth == sought.birth &&
           is_same_file(*library.object, *sought.object);
  });
}

// Adds the libraries that were mapped since. They count from the earliest possible time: the first report of
// their process, or else `since_ns`.
void add_libraries(const Session& session, const std::vector<FollowedLibrary>& before,
                   const std::vector<MapperSeen>& seen, uint64_t since_ns,
                   std::vector<Followed>& added) {
  const uint64_t now_ns = boot_ns();
  for (const FollowedLibrary& library : session.access.libraries) {
    if (!library.is_mapped || is_known(before, library)) continue;
    const auto by = std::find_if(seen.begin(), seen.end(),
                                 [&](const MapperSeen& one) { return one.pid == library.pid; });
    const uint64_t ts_ns = by == seen.end() ? since_ns : by->ts_ns;
    added.push_back({.path = library.object->path(),
                     .cgroup = {},
                     .pid = library.pid,
                     .ts_ns = ts_ns,
                     .unobserved_ns = now_ns > ts_ns ? now_ns - ts_ns : 0});
  }
}

uint64_t next_look_ns(uint64_t due_ns, uint64_t now_ns) {
  return std::max(due_ns, now_ns - std::min(now_ns, kBetweenLooksNs)) + kBetweenLooksNs;
}

bool awaits_look(const Session& session) {
  return !session.awaited.seen.empty() || session.awaited.again;
}

bool is_due(const Session& session, uint64_t now_ns) {
  if (!session.executed.empty() || session.was_replaced || session.follow_learned) return true;
  return awaits_look(session) && now_ns >= session.awaited.next_look_ns;
}

// Returns whether any of the settings chose them: names are compared, and not the cgroups that were found for them.
bool give_cgroups(std::vector<Setting>& settings, const NamedContainers& containers) {
  bool any = false;
  for (Setting& setting : settings) {
    if (setting.target.containers != containers) continue;
    setting.target.containers.cgroups = containers.cgroups;
    any = true;
  }
  return any;
}

void remember(Session& session, const std::vector<Followed>& added) {
  auto& followed = session.followed;
  followed.insert(followed.end(), added.begin(), added.end());
  if (followed.size() > kMostReported)
    followed.erase(followed.begin(), followed.end() - static_cast<std::ptrdiff_t>(kMostReported));
}

}  // namespace

uint64_t Following::next_ns() const {
  uint64_t next = 0;
  for (const auto& [name, session] : sessions_) {
    if (!awaits_look(session) || session.follow_learned) continue;
    const uint64_t due = std::max<uint64_t>(session.awaited.next_look_ns, 1);
    next = next ? std::min(next, due) : due;
  }
  return next;
}

std::vector<FollowSummary> Following::follow() {
  std::vector<FollowSummary> done;
  for (auto& [name, session] : sessions_)
    if (is_due(session, boot_ns()))
      if (auto summary = follow(session)) done.push_back(std::move(*summary));
  return done;
}

Result<CommitSummary> Following::join(const std::string& name, const NamedContainers& containers) {
  auto session = sessions_.find(name);
  if (!session) return session.error();
  if ((*session)->draft)
    return Error{Code::busy,
                 "session \"" + name + "\" has a draft: containers join after its commit or abort"};
  auto settings = (*session)->settings;
  if (!give_cgroups(settings, containers))
    return Error{Code::not_found,
                 "no setting in force of session \"" + name + "\" chose these containers"};
  for (Setting& setting : settings) pass_over_ended(setting.target);
  // Before anything is taken for cgroups that the user may not trace.
  if (auto covered = cover({resolver_, (*session)->access}, settings); !covered)
    return covered.error();
  return commits_.commit_settings(**session, std::move(settings));
}

// Keeps the user's draft. Returns none if a file is still being read.
std::optional<FollowSummary> Following::follow(Session& session) {
  const auto before = session.access.followed;
  const auto libraries_before = session.access.libraries;
  const uint64_t looked_ns = session.awaited.looked_ns;
  const bool was_unseen = session.awaited.again;
  if (was_unseen) Awaiting::take_up_replaced(session);
  auto draft = std::exchange(session.draft, std::nullopt);
  if (!session.follow_learned) session.follow_learned = std::make_shared<Learned>();
  resolver_.begin(session.follow_learned);
  for (Setting& setting : session.settings) pass_over_ended(setting.target);
  session.awaited.next_look_ns = next_look_ns(session.awaited.next_look_ns, boot_ns());
  auto committed = commits_.commit_settings(session, session.settings, true);
  session.draft = std::move(draft);
  if (!committed && resolver_.reading().awaited()) return std::nullopt;
  session.follow_learned.reset();
  session.was_replaced = false;
  if (!committed) session.awaited.again = false;
  const ExecReports reports{std::exchange(session.executed, {}), looked_ns, !was_unseen};
  const auto seen = std::exchange(session.awaited.seen, {});
  FollowSummary summary{session.name, newly_followed(session, before, reports), ok()};
  const uint64_t since_ns = was_unseen || seen.empty() ? looked_ns : seen.front().ts_ns;
  add_libraries(session, libraries_before, seen, since_ns, summary.files);
  const bool has_ended = !committed && committed.error().code == Code::not_found;
  if (!committed && !(has_ended && reports.executed.empty())) summary.done = committed.error();
  remember(session, summary.files);
  return summary;
}

}  // namespace tracectl
