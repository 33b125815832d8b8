// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "daemon/finding/coverage.h"
#include "daemon/switching/session.h"

namespace tracectl {

struct CommitOptions {
  // A site that is refused fails the commit, unless it fits a glob that fits others, too: it is left out then.
  bool partial = false;  // every one is left out
  bool strict = false;   // every one fails the commit
  bool dry_run = false;
  std::optional<uint64_t> most_added = {};  // more sites than these fail the commit
  bool if_changed = false;                  // no switch if the settings in force cover the same
  bool by_engine = false;                   // which follows processes: it waits for no measurement
};

// The changes that a commit of one session is to make.
struct Intent {
  Session* session = nullptr;
  std::vector<Setting> settings;
  Coverage coverage;
  CommitOptions options;
  std::shared_ptr<Coverage> saved = {};  // room for the coverage, if the session is saved
  std::vector<FollowedFile> followed = {};
  std::vector<FollowedLibrary> libraries = {};
  std::vector<LinkerPtr> linkers = {};
  uint64_t began_ns = 0;
};

}  // namespace tracectl
