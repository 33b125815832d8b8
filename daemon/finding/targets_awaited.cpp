// SPDX-License-Identifier: BSD-2-Clause
//
// Files fitting OBJECT that a process may map later: see daemon/sessions/awaiting.cpp.
#include <sys/stat.h>

#include <algorithm>

#include "daemon/finding/targets.h"
#include "daemon/process/chosen_files.h"
#include "daemon/process/linker.h"

namespace tracectl {
namespace {

std::string not_followed(const Process& process) {
  return "libraries that process " + std::to_string(process.pid()) +
         " loads later are not traced: the daemon opens no file for you";
}

bool executes(const Process& process, dev_t device, ino_t inode) {
  struct stat executed {};
  return ::stat(process.proc_path("exe").c_str(), &executed) == 0 && executed.st_dev == device &&
         executed.st_ino == inode;
}

bool has_executed(const Process& process, const std::string& path) {
  struct stat file {};
  return ::stat(path.c_str(), &file) == 0 && executes(process, file.st_dev, file.st_ino);
}

// Whether OBJECT names the program itself, and no library.
bool names_program(const std::string& object, const Process& process,
                   const std::vector<MappedFile>& chosen) {
  return !is_glob(object) && chosen.size() == 1 &&
         executes(process, chosen.front().device, chosen.front().inode);
}

bool is_among(const std::vector<MappedFile>& files, const Object& object) {
  return std::any_of(files.begin(), files.end(), [&](const MappedFile& file) {
    return file.inode == object.identity().inode && file.path == object.path();
  });
}

}  // namespace

// A file that is given by its path and mapped is traced already, and so is the program itself.
Status TargetFinder::await_libraries(const Process& process,
                                     const std::vector<MappedFile>& chosen) {
  if (!awaits_ || pattern_.object.empty()) return ok();
  if (is_path(pattern_.object) && !chosen.empty()) return ok();
  if (names_program(pattern_.object, process, chosen)) return ok();
  if (access_.owner) found_.notes.push_back(not_followed(process));
  if (!access_.awaits_libraries) return ok();
  if (auto linker = dynamic_linker(process); !linker || !*linker) return ok();
  auto held = Process::open(process.pid());
  if (!held) return held.error();
  found_.awaiting.push_back(std::make_shared<const Process>(std::move(*held)));
  return add_former_libraries(process, chosen);
}

// Adds the libraries that the process has unloaded.
Status TargetFinder::add_former_libraries(const Process& process,
                                          const std::vector<MappedFile>& chosen) {
  for (const FollowedLibrary& library : access_.libraries) {
    if (library.pid != process.pid() || library.birth != process.birth()) continue;
    if (is_among(chosen, *library.object)) continue;
    if (is_found(process, library.object->identity().inode)) continue;
    if (!names_file(pattern_.object, library.object->path(), user())) continue;
    auto held = Process::open(process.pid());
    if (!held) return held.error();
    found_.files.push_back({library.object, TargetProcess{std::move(*held), {}}, {}, {}, false});
  }
  return ok();
}

bool TargetFinder::is_found(const Process& process, ino_t inode) const {
  return std::any_of(found_.files.begin(), found_.files.end(), [&](const TargetFile& file) {
    return file.process && file.process->process.pid() == process.pid() &&
           file.object->identity().inode == inode;
  });
}

// Its libraries are looked for after its exec, which is reported (Hooks::listen_for_joining()). A program that
// maps only itself has no linker.
bool TargetFinder::awaits_start_of(const Process& process) const {
  return awaits_ && access_.awaits_libraries && !pattern_.object.empty() &&
         target_.will_map.size() > 1 && !has_executed(process, target_.will_map.front());
}

// Adds the mapped files that will_map did not name.
Status TargetFinder::add_mapped_since(const Process& process) {
  if (!awaits_ || !access_.awaits_libraries || !has_executed(process, target_.will_map.front()))
    return ok();
  const auto files = executable_files(process);
  if (!files) return files.error();
  auto chosen = choose_files(process, *files, pattern_.object, user());
  if (!chosen) return chosen.error();
  if (auto awaited = await_libraries(process, *chosen); !awaited) return awaited;
  for (const MappedFile& file : *chosen) {
    if (is_found(process, file.inode)) continue;
    if (auto added = add_file(process, file); !added) return added;
  }
  return ok();
}

}  // namespace tracectl
