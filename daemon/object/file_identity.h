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
  template <class Self, class F> static void fields(Self& s, F&& f) {
    f("device", s.device);
    f("inode", s.inode);
    f("size", s.size);
    f("modified_s", s.modified.tv_sec);
    f("modified_ns", s.modified.tv_nsec);
    f("changed_s", s.changed.tv_sec);
    f("changed_ns", s.changed.tv_nsec);
  }
};

// Whether both are one file in several overlays (overlayfs), as in containers of one image: these differ in their
// devices, but uprobes are of the file below. False where the kernel does not say so (before Linux 6.6), and for file
// systems without a UUID, which cannot be told from each other.
bool is_one_file_in_overlays(int fd, int other_fd);

// Whether only root can write it. True only on this program's file system: one that somebody else
// has created can claim that any file is root's.
bool is_of_root(const struct stat& status);

}  // namespace tracectl
