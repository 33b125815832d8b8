// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/reading/file_identity.h"

namespace tracectl {
namespace {

bool same_time(const timespec& a, const timespec& b) {
  return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec;
}

}  // namespace

FileIdentity FileIdentity::of(const struct stat& status) {
  return {status.st_dev, status.st_ino, status.st_size, status.st_mtim, status.st_ctim};
}

Result<FileIdentity> FileIdentity::of(int fd) {
  struct stat status {};
  if (::fstat(fd, &status) != 0) return Error::from_errno("fstat");
  return of(status);
}

bool FileIdentity::operator==(const FileIdentity& other) const {
  return device == other.device && inode == other.inode && size == other.size &&
         same_time(modified, other.modified) && same_time(changed, other.changed);
}

}  // namespace tracectl
