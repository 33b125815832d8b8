// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/process/file_access.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "daemon/base/fd.h"
#include "daemon/process/mounts.h"

namespace tracectl {
namespace {

// Looks up only what the kernel has in memory, which includes the path to each mapped file. So this
// never waits for a process that serves a directory.
Fd step(const Fd& directory, const std::string& name) {
  open_how how{};
  how.flags = O_PATH | O_NOFOLLOW | O_CLOEXEC;
  how.resolve = RESOLVE_CACHED | RESOLVE_NO_SYMLINKS;
  return Fd{
      static_cast<int>(::syscall(SYS_openat2, directory.get(), name.c_str(), &how, sizeof(how)))};
}

}  // namespace

bool may_have_acl(const Fd& file) {
  const std::string name = "/proc/self/fd/" + std::to_string(file.get());
  return ::getxattr(name.c_str(), "system.posix_acl_access", nullptr, 0) >= 0 ||
         (errno != ENODATA && errno != EOPNOTSUPP);
}

bool Permissions::allow(const Owner& user, mode_t bit) const {
  const bool others = mode & bit, group = mode & (bit << 3);
  if (user.uid == uid) return mode & (bit << 6);
  if (has_acl) return false;
  return user.gid == gid ? group : others && group;
}

bool FileAccess::may_be_read_by(const Owner& user) const {
  if (!file.allow(user, S_IROTH)) return false;
  // A user may know everything about the user's own files.
  if (file.uid == user.uid) return true;
  return directories &&
         std::all_of(directories->begin(), directories->end(),
                     [&](const Permissions& one) { return one.allow(user, S_IXOTH); });
}

bool FileAccesses::may_wait_for(dev_t device) {
  const auto [known, is_new] = devices_.emplace(device, true);
  if (is_new) known->second = may_wait_for_others(process_, device);
  return known->second;
}

std::optional<FileAccesses::Found> FileAccesses::look_at(const Fd& file) {
  struct statx about {};
  if (!file ||
      ::statx(file.get(), "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_BASIC_STATS, &about) != 0)
    return std::nullopt;
  Found found{.device = makedev(about.stx_dev_major, about.stx_dev_minor),
              .inode = about.stx_ino,
              .permissions = {about.stx_uid, about.stx_gid, about.stx_mode, false}};
  if (may_wait_for(found.device)) return std::nullopt;
  found.permissions.has_acl = may_have_acl(file);
  return found;
}

FileAccess FileAccesses::of(const std::string& path, const struct stat& status) {
  FileAccess access{Permissions::of(status)};
  if (!path.starts_with('/')) return access;
  std::vector<Permissions> directories;
  auto found = look_at(root_);
  Fd at;
  for (size_t begin = 1; found && begin <= path.size();) {
    directories.push_back(found->permissions);
    const size_t end = std::min(path.find('/', begin), path.size());
    at = step(at ? at : root_, path.substr(begin, end - begin));
    found = look_at(at);
    begin = end + 1;
  }
  if (!found || found->device != status.st_dev || found->inode != status.st_ino) return access;
  access.file = found->permissions;
  access.directories = std::move(directories);
  return access;
}

}  // namespace tracectl
