// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <sys/stat.h>

#include <string>

#include "daemon/base/fd.h"
#include "daemon/base/result.h"

namespace tracectl {

// What is at a path that the user has named for an output, behind links.
//
// In a folder in which everybody may make files and remove only their own (/tmp), another user may have put something
// at that name: a link to one of our files, or a file or pipe that it reads. There only what belongs to us or to the
// folder's owner is taken, as the kernel does where fs.protected_symlinks, _regular and _fifos are set.
class OutputPlace {
 public:
  static Result<OutputPlace> find(const std::string& path);

  const std::string& path() const { return path_; }
  bool is_there() const { return static_cast<bool>(found_); }
  // What has no name, as /dev/stdout may, cannot get another file's place.
  bool is_special() const {
    return is_there() && (!S_ISREG(about_.st_mode) || about_.st_nlink == 0);
  }

  // What was found, whatever is at the path now; where nothing was, a new file, which fails with EEXIST where one has
  // come meanwhile. Else as open(2) does. None: errno says why.
  Fd open(int flags) const;

 private:
  explicit OutputPlace(std::string path) : path_(std::move(path)) {}
  Status look();
  Result<std::string> behind() const;

  std::string path_;
  Fd found_;  // O_PATH; none: nothing is there
  struct stat about_ {};
};

}  // namespace tracectl
