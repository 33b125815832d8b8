// SPDX-License-Identifier: BSD-2-Clause
//
// The folder for dumps that no client requested.
#pragma once

#include <sys/types.h>

#include <memory>
#include <string>

#include "daemon/base/fd.h"
#include "daemon/base/result.h"

namespace tracectl {

// A directory that the daemon owns. Others may enter it but not list it. It is made when it is first needed.
// Its files are named NAME-TIME.tct, in UTC, and belong to the user who made the session.
class DumpFolder {
 public:
  static constexpr size_t kMostFiles = 8;  // kept of each session after another one is written

  explicit DumpFolder(std::string path) : path_(std::make_shared<std::string>(std::move(path))) {}

  // For files that are made from now on, by this object and its copies.
  void move_to(std::string path) { *path_ = std::move(path); }

  // The place of one file, valid even if the directory is moved.
  class Place {
   public:
    const std::string& path() const { return path_; }
    void remove() const;
    // Removes older dumps of the same session. To be called when this one has been written.
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
  // Makes an empty file under a name that did not exist.
  Result<File> make(const std::string& session, uid_t owner) const;

 private:
  Result<Fd> open() const;

  std::shared_ptr<std::string> path_;
};

}  // namespace tracectl
