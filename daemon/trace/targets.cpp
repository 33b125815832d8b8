// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/trace/targets.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <set>

#include "daemon/process/running.h"

namespace tracectl {
namespace {

// All that a process has mapped, among it perhaps files that are none of programs.
constexpr const char* kAnyObject = "*";

std::string base_name(const std::string& path) { return path.substr(path.rfind('/') + 1); }

// The name that the kernel gives it in maps.
bool is_in_memory(const std::string& object) { return object.starts_with("/memfd:"); }

bool is_path(const std::string& object) { return !object.empty() && object.front() == '/'; }

// A path names a file also where the process has it under another name (a link to it).
bool same_file(const std::string& path, const MappedFile& file) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 && status.st_ino == file.inode &&
         status.st_dev == file.device;
}

bool fits(const std::string& object, const MappedFile& file) {
  if (is_path(object)) return file.path == object || same_file(object, file);
  return glob_match(object, base_name(file.path));
}

bool fits(const std::string& object, const std::string& path) {
  return is_path(object) ? path == object : glob_match(object, base_name(path));
}

Error nothing_fits(const Pattern& pattern, const std::string& where,
                   const std::vector<std::string>& seen) {
  std::string message = "nothing that " + where + " fits OBJECT \"" + pattern.object + "\"";
  if (!seen.empty()) message += "; it maps ";
  for (size_t i = 0; i < std::min<size_t>(seen.size(), 8); ++i)
    message += (i ? ", " : "") + seen[i];
  if (seen.size() > 8) message += " and " + std::to_string(seen.size() - 8) + " more";
  return Error{Code::not_found, message, "patterns"};
}

Result<MappedFile> main_executable(const Process& process, const std::vector<MappedFile>& files) {
  struct stat status {};
  if (::stat(process.proc_path("exe").c_str(), &status) != 0)
    return Error::from_errno("executable of process " + std::to_string(process.pid()));
  for (const MappedFile& file : files)
    if (file.inode == status.st_ino) return file;
  return Error{Code::not_found, "process " + std::to_string(process.pid()) +
                                    " has no code of its executable mapped from the file"};
}

bool is_another(const Process& process, const Target& target) {
  for (size_t i = 0; i < target.births.size(); ++i)
    if (target.pids[i] == process.pid()) return target.births[i] != process.birth();
  return false;
}

constexpr uint64_t kPassedOver = 0;  // as the birth of a process

bool is_passed_over(const Target& target, size_t i) {
  return i < target.births.size() && target.births[i] == kPassedOver;
}

bool has_ended(pid_t pid, uint64_t birth) {
  const auto process = Process::open(pid);
  return !process || process->birth() != birth || !process->still_there();
}

// A link's filter takes one process, and a child must be traced before anybody can give it one.
void note_cost(TargetFiles& found) {
  std::set<std::string> paths;
  for (const TargetFile& file : found.files) paths.insert(file.object->path());
  for (const std::string& path : paths)
    found.notes.push_back(
        "to follow children, " + path +
        " is armed in every process that maps it; hits of others are not counted, "
        "and cost them their time");
}

}  // namespace

Status note_processes(Target& target) {
  target.births.clear();
  for (const pid_t pid : target.pids) {
    auto process = Process::open(pid);
    if (!process) return process.error();
    target.births.push_back(process->birth());
  }
  return ok();
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

Result<TargetFiles> TargetFinder::find(const Pattern& pattern, const Target& target) {
  TargetFiles found;
  for (size_t i = 0; i < target.pids.size(); ++i) {
    if (is_passed_over(target, i)) continue;
    if (auto added = add_process(pattern, target.pids[i], target, found); !added)
      return added.error();
  }
  for (const std::string& path : target.executables)
    if (auto added = add_executable(pattern, path, found); !added) return added.error();
  if (target.follow != Follow::none) note_cost(found);
  if (target.all || target.empty())
    if (auto added = add_by_path(pattern, target, found); !added) return added.error();
  return found;
}

Status TargetFinder::add_process(const Pattern& pattern, pid_t pid, const Target& target,
                                 TargetFiles& found) {
  auto process = Process::open(pid);
  if (!process) return process.error();
  if (is_another(*process, target))
    return Error{Code::not_found,
                 "process " + std::to_string(pid) +
                     " has ended, and its number means another process now; stage the setting "
                     "again if that is to be traced",
                 "target"};
  if (!target.will_map.empty()) return add_starting(pattern, std::move(*process), target, found);
  return add_mapped(pattern, *process, found);
}

Status TargetFinder::add_mapped(const Pattern& pattern, const Process& process,
                                TargetFiles& found) {
  auto files = executable_files(process);
  if (!files) return files.error();
  std::vector<MappedFile> chosen;
  if (pattern.object.empty()) {
    auto executable = main_executable(process, *files);
    if (!executable) return executable.error();
    chosen.push_back(std::move(*executable));
  } else {
    std::copy_if(files->begin(), files->end(), std::back_inserter(chosen),
                 [&](const MappedFile& file) { return fits(pattern.object, file); });
  }
  if (chosen.empty()) {
    std::vector<std::string> seen;
    for (const MappedFile& file : *files) seen.push_back(base_name(file.path));
    return nothing_fits(pattern, "process " + std::to_string(process.pid()) + " maps", seen);
  }
  for (const MappedFile& file : chosen) {
    auto fd = open_mapped(process, file);
    if (!fd) return fd.error();
    auto object = objects_.open(std::move(*fd), file.path);
    if (!object && pattern.object == kAnyObject && object.error().code == Code::invalid) {
      found.notes.push_back("left out: " + object.error().message);
      continue;
    }
    if (!object) return object.error();
    auto held = Process::open(process.pid());
    if (!held) return held.error();
    if (auto there = process.still_there(); !there) return there;
    found.files.push_back({*object, TargetProcess{std::move(*held), file.ranges}, {}, {}, false});
  }
  return ok();
}

Status TargetFinder::add_starting(const Pattern& pattern, Process process, const Target& target,
                                  TargetFiles& found) {
  bool any = false;
  for (const std::string& path : target.will_map) {
    const bool is_main = &path == &target.will_map.front();
    if (pattern.object.empty() ? !is_main : !fits(pattern.object, path)) continue;
    auto object = open_path(path);
    if (!object) return object.error();
    auto held = Process::open(process.pid());
    if (!held) return held.error();
    found.files.push_back({*object, TargetProcess{std::move(*held), {}}, {}, {}, false});
    any = true;
  }
  if (any) return ok();
  std::vector<std::string> seen;
  for (const std::string& path : target.will_map) seen.push_back(base_name(path));
  return nothing_fits(pattern, "the command will map", seen);
}

// The executable's own code is armed for everybody who runs it. A library of it is armed in the
// processes that are there: for later ones nothing tells when they have mapped it.
Status TargetFinder::add_executable(const Pattern& pattern, const std::string& path,
                                    TargetFiles& found) {
  auto object = open_path(path);
  if (!object) return object.error();
  if (pattern.object.empty() || fits(pattern.object, path)) {
    found.files.push_back({*object, {}, path, processes_with(**object), false});
    return ok();
  }
  auto covered = add_running(pattern, **object, found);
  if (!covered) return covered.error();
  if (*covered == 0)
    return Error{Code::not_found,
                 "no process runs " + path +
                     ", and in those that start later only its own code "
                     "is traced: leave OBJECT empty, or start one first",
                 "target"};
  found.notes.push_back("\"" + pattern.object + "\" is traced in the " + std::to_string(*covered) +
                        " processes that run " + path + " now, not in those that start later");
  return ok();
}

// How many there are. They come and go: one that ends while it is looked at is none of them, and one
// that does not map the file, perhaps not yet, is only then an error when no other does.
Result<size_t> TargetFinder::add_running(const Pattern& pattern, const Object& executable,
                                         TargetFiles& found) {
  size_t covered = 0;
  std::optional<Error> error;
  const FileIdentity& identity = executable.identity();
  for (const pid_t pid : processes_running(identity.device, identity.inode)) {
    auto process = Process::open(pid);
    if (!process) continue;
    const size_t before = found.files.size();
    const auto added = add_mapped(pattern, *process, found);
    for (size_t i = before; i < found.files.size(); ++i) found.files[i].one_of_many = true;
    if (added)
      ++covered;
    else if (process->still_there())
      error = added.error();
  }
  if (error && (covered == 0 || error->code != Code::not_found)) return *error;
  return covered;
}

Status TargetFinder::add_by_path(const Pattern& pattern, const Target& target, TargetFiles& found) {
  if (!is_path(pattern.object))
    return Error{Code::invalid,
                 "without a process OBJECT must be an absolute path: name the file in \"" +
                     to_string(pattern) + "\", or choose a target (-p, -x, -- COMMAND)",
                 "patterns"};
  if (is_in_memory(pattern.object))
    return Error{Code::invalid,
                 pattern.object +
                     " is a file in memory, to which no path leads: choose the "
                     "processes that have it mapped (-p, -x)",
                 "target"};
  auto object = open_path(pattern.object);
  if (!object) return object.error();
  auto others = target.all ? processes_with(**object) : std::vector<TargetProcess>{};
  found.files.push_back({*object, {}, {}, std::move(others), false});
  return ok();
}

// Those that vanish meanwhile need no look at their code.
std::vector<TargetProcess> TargetFinder::processes_with(const Object& object) {
  const FileIdentity& identity = object.identity();
  std::vector<TargetProcess> processes;
  for (const pid_t pid : processes_mapping(identity.device, identity.inode)) {
    auto process = Process::open(pid);
    if (!process) continue;
    auto files = executable_files(*process);
    if (!files) continue;
    for (MappedFile& file : *files)
      if (file.inode == identity.inode) {
        processes.push_back({std::move(*process), std::move(file.ranges)});
        break;
      }
  }
  return processes;
}

Result<ObjectPtr> TargetFinder::open_path(const std::string& path) {
  // Not blocking: a named pipe in the file's place must not hold the daemon.
  Fd fd{::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
  if (!fd) return Error::from_errno("cannot open " + path);
  struct stat status {};
  if (::fstat(fd.get(), &status) != 0) return Error::from_errno("fstat " + path);
  if (!S_ISREG(status.st_mode)) return Error{Code::invalid, path + " is not a regular file"};
  return objects_.open(std::move(fd), path);
}

}  // namespace tracectl
