// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/object/file_identity.h"

namespace tracectl {
namespace {

bool same_time(const timespec& a, const timespec& b) {
  return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec;
}

struct stat status_of_own_program() {
  struct stat status {};
  (void)::stat("/proc/self/exe", &status);
  return status;
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

bool is_of_root(const struct stat& status) {
  static const struct stat own = status_of_own_program();
  return status.st_uid == 0 && !(status.st_mode & (S_IWGRP | S_IWOTH)) &&
         status.st_dev == own.st_dev;
}

}  // namespace tracectl
