// SPDX-License-Identifier: BSD-2-Clause
#include "client/output/output_place.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <climits>

namespace tracectl {
namespace {

constexpr int kMostLinks = 40;  // the kernel's limit

std::string folder_of(const std::string& path) {
  const size_t slash = path.rfind('/');
  return slash == std::string::npos ? "./" : path.substr(0, slash + 1);
}

// A link in /proc/self/fd, whose file may have no path.
bool is_of_procfs(const Fd& link) {
  struct statfs system {};
  return ::fstatfs(link.get(), &system) == 0 && system.f_type == PROC_SUPER_MAGIC;
}

Status check_owner(const struct stat& about, const struct stat& folder, const std::string& path) {
  const bool is_shared = (folder.st_mode & S_ISVTX) && (folder.st_mode & S_IWOTH);
  const bool is_ours = about.st_uid == ::geteuid() || about.st_uid == folder.st_uid;
  const bool is_kind = S_ISLNK(about.st_mode) || S_ISREG(about.st_mode) || S_ISFIFO(about.st_mode);
  if (!is_shared || is_ours || !is_kind) return ok();
  return Error{Code::denied, path + " belongs to user " + std::to_string(about.st_uid) +
                                 ", in a directory where everybody may create files, and could "
                                 "redirect the output: choose another name"};
}

}  // namespace

Result<OutputPlace> OutputPlace::find(const std::string& path) {
  OutputPlace place(path);
  for (int links = 0; links <= kMostLinks; ++links) {
    if (auto looked = place.look(); !looked) return looked.error();
    if (!place.is_there() || !S_ISLNK(place.about_.st_mode)) return place;
    auto next = place.behind();
    if (!next) return next.error();
    place.path_ = std::move(*next);
  }
  return Error::from_errno("follow the links of " + path, ELOOP);
}

Status OutputPlace::look() {
  const std::string folder_path = folder_of(path_);
  const Fd folder{::open(folder_path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC)};
  struct stat about_folder {};
  if (!folder || ::fstat(folder.get(), &about_folder) != 0)
    return Error::from_errno("open the folder of " + path_);
  const std::string name = path_.substr(path_.rfind('/') + 1);
  found_ = Fd{
      ::openat(folder.get(), name.empty() ? "." : name.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC)};
  if (!found_) return errno == ENOENT ? ok() : Status(Error::from_errno("open " + path_));
  if (::fstat(found_.get(), &about_) != 0) return Error::from_errno("look at " + path_);
  if (!S_ISLNK(about_.st_mode) || !is_of_procfs(found_))
    return check_owner(about_, about_folder, path_);
  found_ = Fd{::open(path_.c_str(), O_PATH | O_CLOEXEC)};
  if (!found_ || ::fstat(found_.get(), &about_) != 0) return Error::from_errno("open " + path_);
  return ok();
}

Result<std::string> OutputPlace::behind() const {
  std::string target(PATH_MAX, '\0');
  const ssize_t size = ::readlinkat(found_.get(), "", target.data(), target.size());
  if (size < 0) return Error::from_errno("read the link " + path_);
  target.resize(static_cast<size_t>(size));
  return target.starts_with('/') ? target : folder_of(path_) + target;
}

Fd OutputPlace::open(int flags) const {
  constexpr int kAlways = O_CLOEXEC | O_NOCTTY;
  if (!is_there())
    return Fd{::open(path_.c_str(), flags | kAlways | O_CREAT | O_EXCL | O_NOFOLLOW, 0666)};
  const std::string found = "/proc/self/fd/" + std::to_string(found_.get());
  return Fd{::open(found.c_str(), flags | kAlways)};
}

}  // namespace tracectl
