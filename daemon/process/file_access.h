// SPDX-License-Identifier: BSD-2-Clause
//
// Whether a user could open a file that a process has mapped, by its name and for reading.
#pragma once

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/types.h>

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "daemon/base/fd.h"
#include "daemon/model/owner.h"
#include "daemon/process/process.h"

namespace tracectl {

// The permissions of a file or a directory.
struct Permissions {
  uid_t uid = 0;
  gid_t gid = 0;
  mode_t mode = 0;
  bool has_acl = false;  // which may allow users less than the mode says

  static Permissions of(const struct stat& status) {
    return {status.st_uid, status.st_gid, status.st_mode, false};
  }
  // `bit` is that of others, such as S_IROTH. Only the first of a user's groups is known: if the
  // file's group is another one, both the group and others must be allowed.
  bool allow(const Owner& user, mode_t bit) const;
};

// Whether the file may have an access control list. True if that is not known.
bool may_have_acl(const Fd& file);

struct FileAccess {
  Permissions file;
  // The directories from the process's root to the file. None if the name does not lead to the
  // file, or if that cannot be checked without waiting for another process.
  std::optional<std::vector<Permissions>> directories = {};

  // False if not known.
  bool may_be_read_by(const Owner& user) const;
};

// Finds the access to files of one process.
class FileAccesses {
 public:
  explicit FileAccesses(const Process& process)
      : process_(process), root_(::open(process.proc_path("root").c_str(), O_PATH | O_CLOEXEC)) {}

  // `path` is as in the process's maps; `status` is that of the file.
  FileAccess of(const std::string& path, const struct stat& status);

 private:
  struct Found {
    dev_t device = 0;
    ino_t inode = 0;
    Permissions permissions;
  };
  std::optional<Found> look_at(const Fd& file);
  bool may_wait_for(dev_t device);

  const Process& process_;
  Fd root_;
  std::map<dev_t, bool> devices_;  // whether another process serves the device's files
};

}  // namespace tracectl
