// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/process/chosen_files.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <iterator>
#include <map>

#include "daemon/model/pattern.h"
#include "daemon/process/path_lookup.h"

namespace tracectl {
namespace {

std::string last_part(const std::string& path) { return path.substr(path.rfind('/') + 1); }

std::string directory_of(const std::string& path) { return path.substr(0, path.rfind('/') + 1); }

bool is_named(const std::string& object, const std::string& path) {
  return is_path(object) ? path == object : names_file_name(object, last_part(path));
}

// A path is taken literally.
bool may_be_link(const std::string& object) { return is_path(object) || !is_glob(object); }

// Where OBJECT may be a link to the file at this path.
std::string path_of_link(const std::string& object, const std::string& path) {
  return is_path(object) ? object : directory_of(path) + object;
}

// Adds the files to which OBJECT is a link. Each link is followed once.
void add_by_links(PathLookup lookup, const std::vector<MappedFile>& files,
                  const std::string& object, std::vector<MappedFile>& chosen) {
  std::map<std::string, Fd> found;
  for (const MappedFile& file : files) {
    const auto [link, is_new] = found.try_emplace(path_of_link(object, file.path));
    if (is_new) link->second = lookup.find(link->first);
    if (is_mapped_as(link->second, file)) chosen.push_back(file);
  }
}

Result<MappedFile> main_executable(const Process& process, const std::vector<MappedFile>& files) {
  struct stat status {};
  const bool found = ::stat(process.proc_path("exe").c_str(), &status) == 0;
  if (!found && errno == ENOENT && files.empty())
    return Error{Code::not_found,
                 "process " + std::to_string(process.pid()) +
                     " is a kernel thread, or is ending: it runs no user code",
                 "target"};
  if (!found) return Error::from_errno("executable of process " + std::to_string(process.pid()));
  for (const MappedFile& file : files)
    if (file.inode == status.st_ino) return file;
  return Error{Code::not_found, "process " + std::to_string(process.pid()) +
                                    " has no code of its executable mapped from the file"};
}

}  // namespace

bool names_file(const std::string& object, const std::string& path, const Owner* user) {
  if (is_named(object, path)) return true;
  if (!may_be_link(object)) return false;
  const auto self = Process::open(::getpid());
  if (!self) return false;
  PathLookup lookup(*self, user);
  return is_same_file(lookup.find(path_of_link(object, path)), lookup.find(path));
}

Result<std::vector<MappedFile>> choose_files(const Process& process,
                                             const std::vector<MappedFile>& files,
                                             const std::string& object, const Owner* user) {
  std::vector<MappedFile> chosen;
  if (object.empty()) {
    auto executable = main_executable(process, files);
    if (!executable) return executable.error();
    chosen.push_back(std::move(*executable));
    return chosen;
  }
  std::copy_if(files.begin(), files.end(), std::back_inserter(chosen),
               [&](const MappedFile& file) { return is_named(object, file.path); });
  if (!chosen.empty() || !may_be_link(object)) return chosen;
  add_by_links(PathLookup(process, user), files, object, chosen);
  if (!chosen.empty()) return chosen;
  if (const auto self = Process::open(::getpid()))
    add_by_links(PathLookup(*self, user), files, object, chosen);
  return chosen;
}

}  // namespace tracectl
