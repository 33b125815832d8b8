// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/finding/targets.h"

#include <sys/stat.h>

#include <algorithm>
#include <set>

#include "daemon/base/clock.h"
#include "daemon/process/cgroup_tree.h"
#include "daemon/process/chosen_files.h"
#include "daemon/process/credentials.h"
#include "daemon/process/mounts.h"
#include "daemon/process/running.h"
#include "daemon/process/unit_plan.h"

namespace tracectl {
namespace {

std::string base_name(const std::string& path) { return path.substr(path.rfind('/') + 1); }

// By the name that the kernel gives such a file in maps.
bool is_in_memory(const std::string& object) { return object.starts_with("/memfd:"); }

// Names what is mapped, first what begins as OBJECT does.
std::string mapped_instead(const std::string& object, std::vector<std::string> seen) {
  constexpr size_t kMostNamed = 8;
  if (seen.empty()) return "";
  const auto begins_so = [&](const std::string& name) { return name.starts_with(object); };
  const bool is_near = std::stable_partition(seen.begin(), seen.end(), begins_so) != seen.begin();
  std::string text = "; it maps ";
  for (size_t i = 0; i < std::min(seen.size(), kMostNamed); ++i) text += (i ? ", " : "") + seen[i];
  if (seen.size() > kMostNamed)
    text += " and " + std::to_string(seen.size() - kMostNamed) + " more";
  return is_near && !object.empty() ? text + ": try " + object + "*" : text;
}

Error nothing_fits(const Pattern& pattern, const std::string& where,
                   const std::vector<std::string>& seen) {
  return Error{Code::not_found,
               "nothing that " + where + " fits OBJECT \"" + pattern.object + "\"" +
                   mapped_instead(pattern.object, seen),
               "target"};
}

// Without a field, an error is not of the request.
Error of_target(Error error) {
  error.field = "target";
  return error;
}

Error no_process_allowed(const std::string& where, const Error& of_one) {
  return Error{Code::denied, "you may trace no process that " + where + ": " + of_one.message,
               "target"};
}

std::string not_yet(const Pattern& pattern, const std::string& where,
                    std::vector<std::string> seen = {}) {
  return "nothing that " + where + " maps now fits OBJECT \"" + pattern.object + "\"" +
         mapped_instead(pattern.object, std::move(seen)) +
         "; libraries are looked at when they are loaded";
}

void add_names(const std::vector<MappedFile>& files, std::vector<std::string>& names) {
  for (const MappedFile& file : files)
    if (std::find(names.begin(), names.end(), base_name(file.path)) == names.end())
      names.push_back(base_name(file.path));
}

bool is_another(const Process& process, const Target& target) {
  for (size_t i = 0; i < target.births.size(); ++i)
    if (target.pids[i] == process.pid()) return target.births[i] != process.birth();
  return false;
}

constexpr uint64_t kPassedOver = 0;                     // as the birth of a process
constexpr uint64_t kLongestQuestionNs = 1'000'000'000;  // to systemd: others wait meanwhile

bool is_passed_over(const Target& target, size_t i) {
  return i < target.births.size() && target.births[i] == kPassedOver;
}

bool has_ended(pid_t pid, uint64_t birth) {
  const auto process = Process::open(pid);
  return !process || process->birth() != birth || !process->still_there();
}

// A link's filter takes one process, and a child must be traced before a link for it could be made.
void note_cost(TargetFiles& found) {
  std::set<std::string> paths;
  for (const TargetFile& file : found.files) paths.insert(file.object->path());
  for (const std::string& path : paths)
    found.notes.push_back(
        "to follow children, " + path +
        " is armed in every process that maps it; hits of others are not counted, "
        "and cost them their time");
}

bool is_within(const std::string& path, const std::string& cgroup) {
  return cgroup == "/" || path == cgroup || path.starts_with(cgroup + "/");
}

std::string process_in(pid_t pid, const std::string& cgroup) {
  // The path is from the root of a cgroup namespace, as in a container, and names nothing elsewhere.
  if (cgroup.starts_with("/..")) return std::to_string(pid);
  return std::to_string(pid) + " in " + cgroup;
}

// Names the processes outside the cgroup that hit the file's probes nevertheless. `within`: those in it, in ascending
// order.
std::optional<std::string> sharers(const TargetFile& file, const std::vector<pid_t>& within) {
  constexpr size_t kMostNamed = 3;
  std::vector<std::string> named;
  for (const TargetProcess& other : file.others) {
    const pid_t pid = other.process.pid();
    const std::string path = cgroup_of(pid);
    if (!is_within(path, *file.cgroup) && !std::ranges::binary_search(within, pid))
      named.push_back(process_in(pid, path));
  }
  if (named.empty()) return std::nullopt;
  std::string note = file.object->path() +
                     " is armed in every process that maps it; others than "
                     "those in " +
                     *file.cgroup + " pay for their hits: ";
  for (size_t i = 0; i < std::min(kMostNamed, named.size()); ++i)
    note += (i ? ", process " : "process ") + named[i];
  if (named.size() > kMostNamed)
    note += " and " + std::to_string(named.size() - kMostNamed) + " more";
  return note;
}

std::string only_what_is_mapped(const Pattern& pattern, const std::string& cgroup) {
  return "where \"" + pattern.object + "\" is a library it is traced in what the processes in " +
         cgroup + " have mapped now, not in what is mapped later";
}

void note_cover(const Pattern& pattern, const std::string& cgroup, const std::vector<pid_t>& within,
                bool awaits, TargetFiles& found) {
  const auto is_library = [](const TargetFile& file) { return file.process && file.one_of_many; };
  if (!awaits && std::any_of(found.files.begin(), found.files.end(), is_library))
    found.notes.push_back(only_what_is_mapped(pattern, cgroup));
  for (const TargetFile& file : found.files)
    if (file.cgroup == cgroup)
      if (auto note = sharers(file, within)) found.notes.push_back(std::move(*note));
}

}  // namespace

// For processes that were noted before.
static Status pass_over_those_gone(Target& target) {
  for (size_t i = 0; i < target.births.size(); ++i)
    if (has_ended(target.pids[i], target.births[i])) target.births[i] = kPassedOver;
  const auto is_gone = [](uint64_t birth) { return birth == kPassedOver; };
  if (!std::all_of(target.births.begin(), target.births.end(), is_gone)) return ok();
  return Error{Code::not_found, "the processes that it was for have ended", "target"};
}

Status note_processes(Target& target) {
  if (!target.births.empty()) return pass_over_those_gone(target);
  for (const pid_t pid : target.pids) {
    auto process = Process::open(pid);
    if (!process) return of_target(process.error());
    target.births.push_back(process->birth());
  }
  return ok();
}

// If systemd cannot be asked, the error is that the unit does not run.
static Status note_planned(Target& target, const std::string& unit, const Error& not_there) {
  auto plan = plan_of_unit(unit, boot_ns() + kLongestQuestionNs);
  if (!plan && plan.error().code != Code::unsupported && plan.error().code != Code::busy)
    return plan.error();
  if (!plan) return not_there;
  target.planned[plan->cgroup] = std::move(plan->programs);
  target.unit_cgroups.push_back(std::move(plan->cgroup));
  return ok();
}

Status note_units(Target& target, bool also_planned) {
  target.unit_cgroups.clear();
  target.planned.clear();
  if (target.units.empty()) return ok();
  const auto tree = CgroupTree::open();
  if (!tree) return tree.error();
  for (const std::string& unit : target.units) {
    auto path = tree->of_unit(unit);
    if (path)
      target.unit_cgroups.push_back(std::move(*path));
    else if (!also_planned || path.error().code != Code::not_found)
      return of_target(path.error());
    else if (auto planned = note_planned(target, unit, path.error()); !planned)
      return of_target(planned.error());
  }
  return ok();
}

std::vector<std::string> followed_cgroups(const Target& target) {
  auto paths = target.cgroups;
  for (const auto* more : {&target.unit_cgroups, &target.containers.cgroups})
    paths.insert(paths.end(), more->begin(), more->end());
  return paths;
}

bool may_be_gone(const Target& target, const std::string& cgroup) {
  const auto& of_containers = target.containers.cgroups;
  return std::ranges::find(of_containers, cgroup) != of_containers.end();
}

bool pass_over_ended(Target& target) {
  auto births = target.births;
  for (size_t i = 0; i < births.size(); ++i)
    if (has_ended(target.pids[i], births[i])) births[i] = kPassedOver;
  const bool is_one_left = std::any_of(births.begin(), births.end(),
                                       [](uint64_t birth) { return birth != kPassedOver; });
  if (!is_one_left || births == target.births) return false;
  target.births = std::move(births);
  return true;
}

Result<TargetFiles> TargetFinder::find() {
  found_.can_come = access_.is_in_force;
  for (size_t i = 0; i < target_.pids.size(); ++i) {
    if (is_passed_over(target_, i)) continue;
    if (auto added = add_process(target_.pids[i]); !added) return added.error();
  }
  for (const std::string& path : target_.executables)
    if (auto added = add_executable(path); !added) return added.error();
  if (auto added = add_cgroups(); !added) return added.error();
  if (target_.follow != Follow::none) {
    for (const TargetFile& file : found_.files)
      if (auto may = may_arm_for_all(*file.object); !may) return may.error();
    note_cost(found_);
  }
  if (target_.all || target_.empty())
    if (auto added = add_by_path(); !added) return added.error();
  return std::move(found_);
}

// ---- what may be traced ----

// Probes that are armed for every process that maps a file cost all of them time. A user who may write
// the file can do that to them anyway.
Status TargetFinder::may_arm_for_all(const Object& object) const {
  if (!access_.owner) return ok();
  struct stat status {};
  if (::fstat(object.fd(), &status) != 0) return Error::from_errno("look at " + object.path());
  if (status.st_uid == access_.owner->uid) return ok();
  return Error{Code::denied,
               object.path() +
                   " is not your file, and this would arm it in every process that maps it, also "
                   "in those of other users: choose your processes by number (-p), without -f, or "
                   "ask a member of the group tracectl",
               "target"};
}

// ---- running processes ----

Status TargetFinder::add_process(pid_t pid) {
  auto process = Process::open(pid);
  if (!process) return of_target(process.error());
  if (is_another(*process, target_))
    return Error{Code::not_found,
                 "process " + std::to_string(pid) +
                     " has ended, and its number means another process now; stage the setting "
                     "again if that is to be traced",
                 "target"};
  if (auto may = access_.may_trace(*process); !may) return may;
  if (!target_.will_map.empty()) return add_starting(*process);
  const size_t before = found_.files.size();
  auto added = add_mapped(*process);
  if (!added || found_.files.size() != before) return added;
  std::vector<std::string> names;
  if (const auto files = files_of(*process)) add_names(*files, names);
  found_.notes.push_back(not_yet(pattern_, "process " + std::to_string(pid), std::move(names)));
  return ok();
}

// The process may execute a setuid file meanwhile, and not everybody may learn what that maps.
Result<std::vector<MappedFile>> TargetFinder::files_of(const Process& process) const {
  auto files = executable_files(process);
  if (auto may = access_.may_trace(process); !may) return may.error();
  return files;
}

Status TargetFinder::add_mapped(const Process& process) {
  auto files = files_of(process);
  if (!files) return files.error();
  const auto chosen = choose_files(process, *files, pattern_.object, user());
  if (!chosen) return chosen.error();
  const size_t awaiting = found_.awaiting.size();
  if (auto awaited = await_libraries(process, *chosen); !awaited) return awaited;
  if (chosen->empty() && found_.awaiting.size() > awaiting) {
    found_.can_come = true;
    return ok();
  }
  if (chosen->empty()) {
    std::vector<std::string> seen;
    for (const MappedFile& file : *files) seen.push_back(base_name(file.path));
    return nothing_fits(pattern_, "process " + std::to_string(process.pid()) + " maps", seen);
  }
  for (const MappedFile& file : *chosen)
    if (auto added = add_file(process, file); !added) return added;
  return ok();
}

// Reading such a file may block, and everybody waits meanwhile. A user who may trace everything can
// accept that by naming the process.
Status TargetFinder::may_read(const Process& process, const MappedFile& file) const {
  const auto& named = target_.pids;
  const bool is_named = std::find(named.begin(), named.end(), process.pid()) != named.end();
  if ((is_named && !access_.owner) || !may_wait_for_others(process, file.device)) return ok();
  return Error{
      Code::unsupported,
      file.path + " is on a FUSE file system in process " + std::to_string(process.pid()) +
          ", whose server decides when a read returns: copy the file to another file system, "
          "or let a user who may trace every process name this one (-p)",
      "target"};
}

Status TargetFinder::add_file(const Process& process, const MappedFile& file) {
  if (auto may = may_read(process, file); !may) return may;
  auto fd = access_.open(process, file);
  if (!fd) return fd.error();
  auto object = access_.look_into(objects_, std::move(*fd), file.path);
  if (!object && pattern_.object == kAnyObject && object.error().code == Code::invalid) {
    found_.notes.push_back("left out: " + object.error().message);
    return ok();
  }
  if (!object) return object.error();
  auto held = Process::open(process.pid());
  if (!held) return held.error();
  if (auto there = process.still_there(); !there) return there;
  found_.files.push_back({*object, TargetProcess{std::move(*held), file.ranges}, {}, {}, false});
  return ok();
}

Status TargetFinder::add_starting(const Process& process) {
  bool any = false;
  for (const std::string& path : target_.will_map) {
    const bool is_main = &path == &target_.will_map.front();
    if (pattern_.object.empty() ? !is_main : !names_file(pattern_.object, path, user())) continue;
    auto object = open_path(path);
    if (!object) return object.error();
    auto held = Process::open(process.pid());
    if (!held) return held.error();
    found_.files.push_back({*object, TargetProcess{std::move(*held), {}}, {}, {}, false});
    any = true;
  }
  const size_t files = found_.files.size(), awaiting = found_.awaiting.size();
  if (auto added = add_mapped_since(process); !added) return added;
  if (any || found_.files.size() > files) return ok();
  if (found_.awaiting.size() > awaiting || awaits_start_of(process)) {
    found_.can_come = true;
    found_.notes.push_back(not_yet(pattern_, "the command"));
    return ok();
  }
  std::vector<std::string> seen;
  for (const std::string& path : target_.will_map) seen.push_back(base_name(path));
  return nothing_fits(pattern_, "the command will map", seen);
}

// ---- every process that runs or maps a file ----

// The executable's own code is armed for every process that runs it. A library is armed in the processes
// that run now, and in later ones when they are seen to have mapped it (daemon/sessions/awaiting.cpp).
Status TargetFinder::add_executable(const std::string& path) {
  auto object = open_path(path);
  if (!object) return object.error();
  if (pattern_.object.empty() || names_file(pattern_.object, path, user())) {
    if (auto may = may_arm_for_all(**object); !may) return may;
    found_.files.push_back({*object, {}, path, processes_with(**object), false});
    add_former(**object, path);
    return ok();
  }
  auto covered = add_running(**object);
  if (!covered) return covered.error();
  if (awaits_ && access_.awaits_libraries) {
    found_.can_come |= *covered == 0;
    found_.notes.push_back("\"" + pattern_.object + "\" is traced in the " +
                           std::to_string(*covered) + " processes that run " + path +
                           " now, and in later ones from when it is seen that they have mapped it");
    return ok();
  }
  if (*covered == 0)
    return Error{Code::not_found,
                 "no process runs " + path +
                     ", and in those that start later only its own code "
                     "is traced: leave OBJECT empty, or start one first",
                 "target"};
  found_.notes.push_back("\"" + pattern_.object + "\" is traced in the " +
                         std::to_string(*covered) + " processes that run " + path +
                         " now, not in those that start later");
  return ok();
}

// Returns their number. One that ends while it is looked at does not count, nor does one that may not be
// traced. One that does not map the file, perhaps not yet, is an error only if no other maps it.
Result<size_t> TargetFinder::add_running(const Object& executable) {
  size_t covered = 0;
  std::optional<Error> error, denied;
  const FileIdentity& identity = executable.identity();
  for (const pid_t pid : processes_running(identity.device, identity.inode)) {
    auto process = Process::open(pid);
    if (!process) continue;
    if (auto may = access_.may_trace(*process); !may) {
      denied = may.error();
      continue;
    }
    const size_t before = found_.files.size();
    const auto added = add_mapped(*process);
    for (size_t i = before; i < found_.files.size(); ++i) found_.files[i].one_of_many = true;
    if (added)
      ++covered;
    else if (process->still_there())
      error = added.error();
  }
  if (error && (covered == 0 || error->code != Code::not_found)) return *error;
  if (denied && denied->code == Code::denied && covered == 0 && !access_.is_in_force)
    return no_process_allowed("runs " + executable.path(), *denied);
  return covered;
}

// ---- every process in a cgroup ----

Status TargetFinder::add_cgroups() {
  if (!target_.follows_cgroups()) return ok();
  found_.can_come = true;
  Target noted = target_;
  if (noted.unit_cgroups.size() != noted.units.size())
    if (auto known = note_units(noted, !access_.owner); !known) return known;
  for (const std::string& path : followed_cgroups(noted)) {
    const auto planned = noted.planned.find(path);
    const auto* programs = planned == noted.planned.end() ? nullptr : &planned->second;
    if (auto added = add_cgroup(path, programs); !added) return added;
  }
  return ok();
}

// The programs that its processes run are armed for all of them, and stay armed: a unit that is started
// again runs the same file. A library is armed in the processes that run now. The cgroup may be missing
// for a while.
Status TargetFinder::add_cgroup(const std::string& path, const std::vector<std::string>* planned) {
  const auto tree = CgroupTree::open();
  if (!tree) return tree.error();
  const bool was_followed = add_followed(path);
  const bool is_awaited = was_followed || planned || may_be_gone(target_, path);
  if (auto id = tree->id_of(path); !id && !is_awaited) return of_target(id.error());
  const size_t before = found_.files.size();
  if (planned) add_planned(path, *planned);
  seen_.clear();
  bool may_any = false;
  std::optional<Error> error, denied;
  const auto within = tree->processes_in(path);
  for (const pid_t pid : within) {
    auto process = Process::open(pid);
    if (!process) continue;
    if (auto may = access_.may_trace(*process); !may) {
      denied = may.error();
      continue;
    }
    may_any = true;
    const auto added = add_in_cgroup(*process, path);
    if (!added && process->still_there()) error = added.error();
  }
  const bool any = was_followed || found_.files.size() > before;
  if (error && !any && error->code != Code::not_found) return *error;
  const bool is_refused = denied && denied->code == Code::denied && !may_any;
  if (is_refused && !any && !access_.is_in_force)
    return no_process_allowed("runs in " + path, *denied);
  if (error && error->code != Code::not_found)
    found_.notes.push_back("left out in " + path + ": " + error->message);
  if (any)
    note_cover(pattern_, path, within, awaits_ && access_.awaits_libraries, found_);
  else
    found_.notes.push_back("nothing that runs in " + path + " now fits OBJECT \"" +
                           pattern_.object + "\"" + mapped_instead(pattern_.object, seen_) +
                           "; programs are looked at when they are executed there");
  return ok();
}

// Programs that are not ELF files, or cannot be opened from here, are looked at when they are executed.
void TargetFinder::add_planned(const std::string& cgroup,
                               const std::vector<std::string>& programs) {
  for (const std::string& program : programs) {
    if (!pattern_.object.empty() && !names_file(pattern_.object, program, user())) continue;
    auto object = open_path(program);
    if (!object || is_found(cgroup, (*object)->identity().inode, program)) continue;
    auto others = processes_with(**object);
    found_.files.push_back({std::move(*object), {}, {}, std::move(others), false, cgroup});
  }
}

bool TargetFinder::is_found(const std::string& cgroup, uint64_t inode,
                            const std::string& path) const {
  return std::any_of(found_.files.begin(), found_.files.end(), [&](const TargetFile& known) {
    return known.cgroup == cgroup && known.object->identity().inode == inode &&
           known.object->path() == path;
  });
}

// By another name, as a link or a mount gives it, or in another overlay: a hit of either would count for both.
bool TargetFinder::is_same_file_found(const std::string& cgroup, const Object& object) const {
  const FileIdentity& file = object.identity();
  return std::ranges::any_of(found_.files, [&](const TargetFile& known) {
    const FileIdentity& other = known.object->identity();
    return known.cgroup == cgroup && other.inode == file.inode &&
           (other.device == file.device ||
            is_one_file_in_overlays(known.object->fd(), object.fd()));
  });
}

bool TargetFinder::add_followed(const std::string& cgroup) {
  bool any = false;
  for (const FollowedFile& file : access_.followed) {
    if (file.cgroup != cgroup) continue;
    any = true;
    if (pattern_.object.empty() || names_file(pattern_.object, file.object->path(), user()))
      found_.files.push_back({file.object, {}, {}, processes_with(*file.object), false, cgroup});
  }
  return any;
}

Status TargetFinder::add_in_cgroup(const Process& process, const std::string& cgroup) {
  struct stat executable {};
  const auto files = files_of(process);
  if (!files || ::stat(process.proc_path("exe").c_str(), &executable) != 0) return ok();
  const auto chosen = choose_files(process, *files, pattern_.object, user());
  if (!chosen) return chosen.error();
  add_names(*files, seen_);
  const size_t former = found_.files.size();
  if (auto awaited = await_libraries(process, *chosen); !awaited) return awaited;
  for (size_t i = former; i < found_.files.size(); ++i) found_.files[i].one_of_many = true;
  for (const MappedFile& file : *chosen) {
    const bool is_executable = file.inode == executable.st_ino;
    const size_t before = found_.files.size();
    auto added = is_executable ? add_executable_of(process, file, cgroup) : add_file(process, file);
    if (!added) return added;
    for (size_t i = before; i < found_.files.size(); ++i) found_.files[i].one_of_many = true;
  }
  return ok();
}

Status TargetFinder::add_executable_of(const Process& process, const MappedFile& file,
                                       const std::string& cgroup) {
  if (is_found(cgroup, file.inode, file.path)) return ok();
  if (auto may = may_read(process, file); !may) return may;
  auto fd = access_.open(process, file);
  if (!fd) return fd.error();
  auto object = access_.look_into(objects_, std::move(*fd), file.path);
  if (!object) return object.error();
  if (is_same_file_found(cgroup, **object)) return ok();
  if (auto may = may_arm_for_all(**object); !may) return may;
  auto others = processes_with(**object);
  found_.files.push_back({std::move(*object), {}, {}, std::move(others), false, cgroup});
  return ok();
}

Status TargetFinder::add_by_path() {
  if (pattern_.function.starts_with('/'))
    return Error{Code::invalid,
                 "which of its functions? " + pattern_.function + ":* is all of them, " +
                     pattern_.function + ":FUNCTION is one",
                 "patterns"};
  if (!is_path(pattern_.object))
    return Error{Code::invalid,
                 "without a process OBJECT must be an absolute path: name the file before \"" +
                     to_string(pattern_) +
                     "\", as in /usr/lib/libx.so:f, or choose a target (-p, -x, -- COMMAND)",
                 "patterns"};
  if (is_in_memory(pattern_.object))
    return Error{Code::invalid,
                 pattern_.object +
                     " is a file in memory, to which no path leads: choose the "
                     "processes that have it mapped (-p, -x)",
                 "target"};
  auto object = open_path(pattern_.object);
  if (!object) return object.error();
  if (!target_.all) {
    found_.files.push_back({*object, {}, {}, {}, false});
    return ok();
  }
  if (auto may = may_arm_for_all(**object); !may) return may;
  found_.files.push_back({*object, {}, {}, processes_with(**object), false});
  add_former(**object, {});
  return ok();
}

// Adds files that were at the path when the session was committed, until the last process that has them
// ends.
void TargetFinder::add_former(const Object& now, const std::optional<std::string>& executable) {
  for (const FollowedFile& file : access_.followed) {
    const bool is_it = file.object->identity().device == now.identity().device &&
                       file.object->identity().inode == now.identity().inode;
    if (!file.cgroup.empty() || is_it || file.object->path() != now.path()) continue;
    auto processes = processes_with(*file.object);
    if (!processes.empty())
      found_.files.push_back({file.object, {}, executable, std::move(processes), false});
  }
}

// Leaves out processes that end meanwhile or map another file with this inode number: their code need
// not be compared.
std::vector<TargetProcess> TargetFinder::processes_with(const Object& object) const {
  const FileIdentity& identity = object.identity();
  std::vector<TargetProcess> processes;
  for (const pid_t pid : processes_mapping(identity.device, identity.inode)) {
    auto process = Process::open(pid);
    if (!process) continue;
    auto files = executable_files(*process);
    if (!files) continue;
    for (MappedFile& file : *files)
      if (file.inode == identity.inode &&
          (file.device == identity.device || !may_wait_for_others(*process, file.device))) {
        processes.push_back({std::move(*process), std::move(file.ranges)});
        break;
      }
  }
  return processes;
}

Result<ObjectPtr> TargetFinder::open_path(const std::string& path) {
  auto fd = access_.open(path);
  if (!fd) return fd.error();
  return access_.look_into(objects_, std::move(*fd), path);
}

}  // namespace tracectl
