// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <map>
#include <set>
#include <string>

#include "daemon/base/fd.h"

namespace tracectl {

// Tells when another file may have been put in place at a path: by a rename, as upgrades do it, or by writing.
// A path below a directory that cannot be watched is never told of.
class ReplacedFiles {
 public:
  ReplacedFiles();

  // Readable when there is something to take. -1: the kernel gives no more of these.
  int fd() const { return inotify_.get(); }
  // These absolute paths, and no others any more.
  void watch(std::set<std::string> paths);
  // Of those, where something has happened since the last time.
  std::set<std::string> take();

 private:
  std::set<std::string> named_by(const char* events, size_t size) const;

  Fd inotify_;
  std::set<std::string> paths_;
  std::map<std::string, int> directories_;  // and their watches
};

}  // namespace tracectl
