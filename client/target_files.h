// SPDX-License-Identifier: BSD-2-Clause
//
// The files in which a request's patterns look for probes, opened with the user's own rights: the
// daemon opens nothing for a user who is not privileged.
#pragma once

#include <string>
#include <vector>

#include "daemon/base/fd.h"
#include "daemon/protocol/messages.h"

namespace tracectl {

struct OpenedFiles {
  // As many as a message can carry; for more the daemon is left to find them itself, or to refuse.
  static constexpr size_t kMost = protocol::kMostFilesOfRequest;

  std::vector<std::string> paths;  // each once
  std::vector<Fd> files;           // of these

  std::vector<int> descriptors() const;
};

// What cannot be opened, or is there no longer, is left out: the daemon says what it misses. So are
// patterns that are none.
OpenedFiles open_files(const std::vector<std::string>& patterns,
                       const protocol::TargetPart& target);
// Of all patterns that the request has.
OpenedFiles open_files(const protocol::StageSet& request);

}  // namespace tracectl
