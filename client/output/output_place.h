// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <sys/stat.h>

#include <string>

#include "daemon/base/fd.h"
#include "daemon/base/result.h"

namespace tracectl {

// The file at a path that the user has named for an output; links are followed.
//
// In a directory where all users may create files but remove only their own (/tmp), another user may have
// created something under that name: a link to one of our files, or a file or pipe that it reads. There only
// files of this user or of the directory's owner are accepted, as by the kernel if fs.protected_symlinks,
// _regular and _fifos are set.
class OutputPlace {
 public:
  static Result<OutputPlace> find(const std::string& path);

  const std::string& path() const { return path_; }
  bool is_there() const { return static_cast<bool>(found_); }
  // A file without a name, like that of /dev/stdout, cannot be replaced by another file.
  bool is_special() const {
    return is_there() && (!S_ISREG(about_.st_mode) || about_.st_nlink == 0);
  }

  // Opens the file that was found, whatever is at the path now; or if there was none, creates one, which
  // fails with EEXIST if one has appeared since. Otherwise like open(2). Not set on errors: see errno.
  Fd open(int flags) const;

 private:
  explicit OutputPlace(std::string path) : path_(std::move(path)) {}
  Status look();
  Result<std::string> behind() const;

  std::string path_;
  Fd found_;  // O_PATH; not set: nothing is there
  struct stat about_ {};
};

}  // namespace tracectl
