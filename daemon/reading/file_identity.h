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

}  // namespace tracectl
