// SPDX-License-Identifier: BSD-2-Clause
//
// Where dumps go that no client has asked for.
#pragma once

#include <sys/types.h>

#include <string>

#include "daemon/base/fd.h"
#include "daemon/base/result.h"

namespace tracectl {

// A directory of the daemon's own, which others may enter and not list. It is made when it is first
// needed. The files in it belong to who has made the session: NAME-TIME.tct, in UTC.
class DumpFolder {
 public:
  static constexpr size_t kMostFiles = 8;  // of each session, the oldest of which are removed

  explicit DumpFolder(std::string path) : path_(std::move(path)) {}

  struct File {
    Fd file;
    std::string path;
  };
  // Empty, and there was none of this name before.
  Result<File> make(const std::string& session, uid_t owner) const;

 private:
  Result<Fd> open() const;

  const std::string path_;
};

}  // namespace tracectl
