// SPDX-License-Identifier: BSD-2-Clause
//
// Files that a user has opened with its own rights and passed as descriptors. For such a user, files are
// read and armed only through these: the daemon opens nothing that the user could not open.
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

  // `path`: the user's name for it. Refuses all but regular files that are open for reading. Replaces a
  // file with the same path. `debug_of`: it is the debug file of the files with this build id, by what the
  // user says; whoever reads it with one of them checks that. Empty: probes are searched in it.
  Status add(Fd fd, const std::string& path, const std::string& debug_of = "");
  bool is_empty() const { return files_.empty(); }

  struct File {
    std::string path;
    FileIdentity identity;
    Fd fd;
    std::string debug_of;
  };
  const std::list<File>& all() const { return files_; }

  // Returns a descriptor that the caller owns, or none if the file was not given.
  std::optional<Fd> open(const MappedFile& file) const;
  std::optional<Fd> open(const std::string& path) const;
  std::optional<NamedDebugFile> debug_file_of(const std::string& build_id) const;

 private:
  std::list<File> files_;
};

// A file that is armed for more than one process. With `cgroup`: a process in the cgroup has been seen
// to run it, and it is armed for all that run it there later. Else it was found at its path, and stays
// armed for the processes that have it after another file takes its place.
struct FollowedFile {
  std::string cgroup;  // or empty
  ObjectPtr object;
};

// A library that was armed in one process. It stays armed while the process does not map it, so that it
// is traced from its first instruction when it is loaded again.
struct FollowedLibrary {
  pid_t pid = 0;
  uint64_t birth = 0;  // Process::birth
  ObjectPtr object;
  bool is_mapped = true;  // at the last look
};

// The user for whom something is resolved, and the files to use. For a user who may trace everything,
// this process itself opens files that were not given.
struct Access {
  std::optional<Owner> owner;  // none: may trace every process
  GivenFiles files;
  std::vector<FollowedFile> followed = {};
  std::vector<FollowedLibrary> libraries = {};
  bool awaits_libraries = false;  // libraries that are mapped later are looked for then
  bool is_in_force = false;       // this is another look: it is no error if nothing fits now
  // For an owner: whether a client has proven that the kernel lets it see the process. Empty: no process.
  std::function<bool(const Process&)> is_proven = {};

  // As GivenFiles::add(); for an owner it also refuses files on FUSE: another process supplies their
  // bytes, so that reading them may block forever.
  Status give(Fd fd, const std::string& path, const std::string& debug_of = "");
  Result<Fd> open(const Process& process, const MappedFile& file) const;
  // Opens only regular files.
  Result<Fd> open(const std::string& path) const;
  // Opens the object of that file, with the debug file that the user has named for it.
  Result<ObjectPtr> look_into(Objects& objects, Fd fd, const std::string& path) const;
  // Fails with Code::denied.
  Status may_trace(const Process& process) const;
};

}  // namespace tracectl
