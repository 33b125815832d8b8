// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <sys/stat.h>

#include "daemon/base/result.h"

namespace tracectl {

// A file counts as unchanged as long as none of these has changed.
struct FileIdentity {
  dev_t device = 0;
  ino_t inode = 0;
  off_t size = 0;
  timespec modified{};
  timespec changed{};

  static FileIdentity of(const struct stat& status);
  static Result<FileIdentity> of(int fd);
  bool operator==(const FileIdentity& other) const;
};

// Whether only root can write it. True only on this program's file system: one that somebody else
// has created can claim that any file is root's.
bool is_of_root(const struct stat& status);

}  // namespace tracectl
