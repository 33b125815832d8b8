// SPDX-License-Identifier: BSD-2-Clause
//
// Files that a user has opened with its own rights and given as descriptors. What is traced for it is
// read and armed through these: the daemon opens nothing for a user who could not.
#pragma once

#include <functional>
#include <list>
#include <optional>
#include <string>
#include <vector>

#include "daemon/base/fd.h"
#include "daemon/base/result.h"
#include "daemon/finding/object.h"
#include "daemon/model/owner.h"
#include "daemon/process/maps.h"
#include "daemon/process/process.h"

namespace tracectl {

class GivenFiles {
 public:
  static constexpr size_t kMost = 256;

  // `path`: what the user calls it. Refuses what is no regular file that can be read. A file that is
  // there already, under the same path, is replaced.
  Status add(Fd fd, const std::string& path);
  bool is_empty() const { return files_.empty(); }

  struct File {
    std::string path;
    FileIdentity identity;
    Fd fd;
  };
  const std::list<File>& all() const { return files_; }

  // A descriptor of the caller's own, or none where it was not given.
  std::optional<Fd> open(const MappedFile& file) const;
  std::optional<Fd> open(const std::string& path) const;

 private:
  std::list<File> files_;
};

// A file that is armed for more than one process. Where a process in a cgroup has been seen to run it: for all
// that run it there later. Else it was found at its path: it stays armed for those that have it when
// another is put in its place.
struct FollowedFile {
  std::string cgroup;  // or empty
  ObjectPtr object;
};

// A library that was armed in one process. It stays so while the process has it not mapped: when it is loaded
// again it is traced from its first instruction.
struct FollowedLibrary {
  pid_t pid = 0;
  uint64_t birth = 0;  // Process::birth
  ObjectPtr object;
  bool is_mapped = true;  // when it was looked last
};

// For whom something is resolved, and by which files. A file that was not given this process opens itself, if it
// is for one who may trace everything.
struct Access {
  std::optional<Owner> owner;  // none: may trace every process
  GivenFiles files;
  std::vector<FollowedFile> followed = {};
  std::vector<FollowedLibrary> libraries = {};
  bool awaits_libraries = false;  // what is mapped later is looked for then
  bool is_in_force = false;       // it is looked again: that nothing fits now is no error
  // Of an owner: whether a client has shown that the kernel lets it see the process. None: of no process.
  std::function<bool(const Process&)> is_proven = {};

  // As GivenFiles::add(); of an owner it also refuses files whose bytes another process makes up when they are
  // asked for (FUSE): who reads them may wait for ever.
  Status give(Fd fd, const std::string& path);
  Result<Fd> open(const Process& process, const MappedFile& file) const;
  // A regular file.
  Result<Fd> open(const std::string& path) const;
  // Fails with Code::denied.
  Status may_trace(const Process& process) const;
};

}  // namespace tracectl
