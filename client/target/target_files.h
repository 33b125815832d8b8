// SPDX-License-Identifier: BSD-2-Clause
//
// The files in which a request's patterns look for probes, opened with the user's own rights: the daemon
// opens none for an unprivileged user.
#pragma once

#include <string>
#include <vector>

#include "daemon/base/fd.h"
#include "daemon/protocol/messages.h"

namespace tracectl {

struct OpenedFiles {
  // The most that a message can carry; the daemon finds further ones itself, or refuses.
  static constexpr size_t kMost = protocol::kMostFilesOfRequest;

  std::vector<std::string> paths;  // without duplicates
  std::vector<Fd> files;           // in the same order
  std::vector<Fd> debug_files;     // of these; they follow in a message

  std::vector<int> descriptors() const;
};

// The OBJECTs of all patterns of the request; those of invalid patterns are left out.
std::vector<std::string> objects_of(const protocol::StageSet& request);
// Files that cannot be opened, or that were deleted, are left out: the daemon reports missing ones. Invalid
// patterns are left out, too.
OpenedFiles open_files(const std::vector<std::string>& patterns,
                       const protocol::TargetPart& target);
// For all patterns of the request.
OpenedFiles open_files(const protocol::StageSet& request);

}  // namespace tracectl
