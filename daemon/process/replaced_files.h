// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <map>
#include <set>
#include <string>

#include "daemon/base/fd.h"

namespace tracectl {

// Reports paths at which the file may have been replaced: by a rename, as upgrades do, or by
// writing. Paths below a directory that cannot be watched are never reported.
class ReplacedFiles {
 public:
  ReplacedFiles();

  // Readable when there is something to take. -1 if the kernel has no more inotify instances.
  int fd() const { return inotify_.get(); }
  // Watches these absolute paths, and no others.
  void watch(std::set<std::string> paths);
  // The watched paths at which something has happened since the last call.
  std::set<std::string> take();

 private:
  std::set<std::string> named_by(const char* events, size_t size) const;

  Fd inotify_;
  std::set<std::string> paths_;
  std::map<std::string, int> directories_;  // with their watches
};

}  // namespace tracectl
