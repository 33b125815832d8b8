// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/finding/given_files.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include <algorithm>

#include "daemon/process/credentials.h"

namespace tracectl {
namespace {

Status check_readable(const Fd& fd, const std::string& path) {
  struct stat status {};
  if (::fstat(fd.get(), &status) != 0) return Error::from_errno("look at " + path);
  if (!S_ISREG(status.st_mode)) return Error{Code::invalid, path + " is not a regular file"};
  const int flags = ::fcntl(fd.get(), F_GETFL);
  if (flags < 0) return Error::from_errno("look at " + path);
  if (flags & O_PATH || (flags & O_ACCMODE) == O_WRONLY)
    return Error{Code::invalid, path + " was not opened for reading"};
  return ok();
}

Status check_not_fuse(const Fd& fd, const std::string& path) {
  struct statfs system {};
  if (::fstatfs(fd.get(), &system) != 0) return Error::from_errno("look at " + path);
  if (system.f_type != FUSE_SUPER_MAGIC) return ok();
  return Error{
      Code::invalid,
      path +
          " is on a FUSE file system, whose process decides when a read returns, if ever: copy "
          "the file to another file system"};
}

// O_NONBLOCK: a named pipe in the file's place must not block the daemon.
Result<Fd> open_regular(const std::string& path) {
  Fd fd{::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
  if (!fd) return Error::from_errno("cannot open " + path);
  struct stat status {};
  if (::fstat(fd.get(), &status) != 0) return Error::from_errno("fstat " + path);
  if (!S_ISREG(status.st_mode)) return Error{Code::invalid, path + " is not a regular file"};
  return fd;
}

Error not_given(const std::string& path) {
  return Error{Code::denied,
               "the daemon does not open " + path +
                   " for you, and the request came without a descriptor of it: check that you may "
                   "read it"};
}

Error not_proven(pid_t pid) {
  const std::string number = std::to_string(pid);
  return Error{Code::denied,
               "process " + number +
                   " runs as you, but the daemon has no proof that the kernel lets you trace it: a "
                   "client proves it by a descriptor of /proc/" +
                   number +
                   "/mem, as tracectl does where it can open it; Landlock, Yama "
                   "(kernel.yama.ptrace_scope) and other security modules may refuse that",
               "target"};
}

Fd copy_of(const Fd& fd) { return Fd{::fcntl(fd.get(), F_DUPFD_CLOEXEC, 0)}; }

}  // namespace

Status GivenFiles::add(Fd fd, const std::string& path, const std::string& debug_of) {
  if (auto good = check_readable(fd, path); !good) return good;
  auto identity = FileIdentity::of(fd.get());
  if (!identity) return identity.error();
  // What is named last counts.
  std::erase_if(files_, [&](const File& file) {
    if (!debug_of.empty() && file.debug_of == debug_of) return true;
    return file.path == path && file.debug_of.empty() == debug_of.empty();
  });
  if (files_.size() == kMost)
    return Error{Code::exhausted, "a session holds " + std::to_string(kMost) + " files at most"};
  files_.push_back({path, *identity, std::move(fd), debug_of});
  return ok();
}

// On some file systems (btrfs, overlayfs) maps have another device than stat(2): then the path decides.
std::optional<Fd> GivenFiles::open(const MappedFile& mapped) const {
  for (const File& file : files_)
    if (file.debug_of.empty() && file.identity.inode == mapped.inode &&
        (file.identity.device == mapped.device || file.path == mapped.path))
      return copy_of(file.fd);
  return std::nullopt;
}

std::optional<Fd> GivenFiles::open(const std::string& path) const {
  const auto found = std::find_if(files_.begin(), files_.end(), [&](const File& file) {
    return file.debug_of.empty() && file.path == path;
  });
  if (found == files_.end()) return std::nullopt;
  return copy_of(found->fd);
}

std::optional<NamedDebugFile> GivenFiles::debug_file_of(const std::string& build_id) const {
  if (build_id.empty()) return std::nullopt;
  const auto found = std::find_if(files_.begin(), files_.end(),
                                  [&](const File& file) { return file.debug_of == build_id; });
  if (found == files_.end()) return std::nullopt;
  return NamedDebugFile{copy_of(found->fd), found->path};
}

Status Access::give(Fd fd, const std::string& path, const std::string& debug_of) {
  if (owner)
    if (auto good = check_not_fuse(fd, path); !good) return good;
  return files.add(std::move(fd), path, debug_of);
}

Result<ObjectPtr> Access::look_into(Objects& objects, Fd fd, const std::string& path) const {
  auto object = objects.open(std::move(fd), path);
  if (!object) return object.error();
  auto named = files.debug_file_of((*object)->facts().build_id);
  if (!named) return *object;
  return objects.with_debug_file(**object, std::move(*named));
}

Status Access::may_trace(const Process& process) const {
  if (!owner) return ok();
  if (auto may = tracectl::may_trace(*owner, process); !may) return may;
  if (is_proven && is_proven(process)) return ok();
  return not_proven(process.pid());
}

Result<Fd> Access::open(const Process& process, const MappedFile& file) const {
  if (auto given = files.open(file)) return std::move(*given);
  return owner ? not_given(file.path) : open_mapped(process, file);
}

Result<Fd> Access::open(const std::string& path) const {
  if (auto given = files.open(path)) return std::move(*given);
  return owner ? not_given(path) : open_regular(path);
}

}  // namespace tracectl
