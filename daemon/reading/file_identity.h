// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <sys/stat.h>

#include "daemon/base/result.h"

namespace tracectl {

// A file is the one that was read as long as none of these has changed.
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

// Whether root alone may write it. It lies where this program does: a file system that somebody else has
// made can say of any file that it is root's.
bool is_of_root(const struct stat& status);

}  // namespace tracectl
