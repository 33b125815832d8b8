// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/process/chosen_files.h"

#include <sys/stat.h>

#include <algorithm>
#include <iterator>

#include "daemon/model/pattern.h"

namespace tracectl {
namespace {

std::string last_part(const std::string& path) { return path.substr(path.rfind('/') + 1); }

// A path names a file also if the process has mapped it by another name (a link to it).
bool is_file_at(const std::string& path, const MappedFile& file) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 && status.st_ino == file.inode &&
         status.st_dev == file.device;
}

bool names_mapped(const std::string& object, const MappedFile& file) {
  if (is_path(object)) return file.path == object || is_file_at(object, file);
  return glob_match(object, last_part(file.path));
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

}  // namespace

bool names_file(const std::string& object, const std::string& path) {
  return is_path(object) ? path == object : glob_match(object, last_part(path));
}

Result<std::vector<MappedFile>> choose_files(const Process& process,
                                             const std::vector<MappedFile>& files,
                                             const std::string& object) {
  std::vector<MappedFile> chosen;
  if (object.empty()) {
    auto executable = main_executable(process, files);
    if (!executable) return executable.error();
    chosen.push_back(std::move(*executable));
    return chosen;
  }
  std::copy_if(files.begin(), files.end(), std::back_inserter(chosen),
               [&](const MappedFile& file) { return names_mapped(object, file); });
  return chosen;
}

}  // namespace tracectl
