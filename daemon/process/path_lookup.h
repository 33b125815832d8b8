// SPDX-License-Identifier: BSD-2-Clause
//
// Follows paths, and the symbolic links in them, to files.
#pragma once

#include <sys/types.h>

#include <map>
#include <string>

#include "daemon/base/fd.h"
#include "daemon/base/result.h"
#include "daemon/model/owner.h"
#include "daemon/process/maps.h"
#include "daemon/process/process.h"

namespace tracectl {

// Looks paths up as a process sees them: from its root, which it cannot leave. Never waits for a process that
// serves a directory (FUSE): a path through such a directory leads nowhere.
class PathLookup {
 public:
  // `process` is borrowed. `user`: whose rights must suffice to follow the paths, borrowed; null: those of this
  // process do.
  PathLookup(const Process& process, const Owner* user);

  // The file to which an absolute path leads, as by O_PATH; no descriptor if there is none.
  Fd find(const std::string& path);

 private:
  bool may_search(const Fd& directory);
  bool may_wait_for(dev_t device);

  const Process& process_;
  const Owner* user_;
  Fd root_;
  std::map<dev_t, bool> devices_;  // whether another process serves the device's files
};

// Whether a process has mapped this very file.
bool is_mapped_as(const Fd& found, const MappedFile& file);
bool is_same_file(const Fd& a, const Fd& b);

}  // namespace tracectl
