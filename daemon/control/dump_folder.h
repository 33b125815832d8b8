// SPDX-License-Identifier: BSD-2-Clause
//
// Where dumps go that no client has asked for.
#pragma once

#include <sys/types.h>

#include <memory>
#include <string>

#include "daemon/base/fd.h"
#include "daemon/base/result.h"

namespace tracectl {

// A directory of the daemon's own, which others may enter and not list. It is made when it is first
// needed. The files in it belong to who has made the session: NAME-TIME.tct, in UTC.
class DumpFolder {
 public:
  static constexpr size_t kMostFiles = 8;  // of each session, when one more has been written

  explicit DumpFolder(std::string path) : path_(std::make_shared<std::string>(std::move(path))) {}

  // For files that are made from now on, by this object and its copies.
  void move_to(std::string path) { *path_ = std::move(path); }

  // Where one file is, found again even if the directory gets another path.
  class Place {
   public:
    const std::string& path() const { return path_; }
    void remove() const;
    // Of the same session. To be called when this one has been written: until then what there is stays.
    void remove_older() const;

   private:
    friend class DumpFolder;
    Fd folder_;
    std::string path_, session_, name_;
  };
  struct File {
    Fd file;
    Place place;
  };
  // Empty, and there was none of this name before.
  Result<File> make(const std::string& session, uid_t owner) const;

 private:
  Result<Fd> open() const;

  std::shared_ptr<std::string> path_;
};

}  // namespace tracectl
