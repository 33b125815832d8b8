// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/process/path_lookup.h"

#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <optional>
#include <vector>

#include "daemon/process/file_access.h"
#include "daemon/process/mounts.h"

namespace tracectl {
namespace {

constexpr int kMostLinks = 40;  // as the kernel's MAXSYMLINKS

std::optional<struct statx> about(const Fd& file) {
  struct statx found {};
  if (!file ||
      ::statx(file.get(), "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_BASIC_STATS, &found) != 0)
    return std::nullopt;
  return found;
}

dev_t device_of(const struct statx& found) {
  return makedev(found.stx_dev_major, found.stx_dev_minor);
}

std::string text_of_link(int directory, const char* name) {
  std::string text(PATH_MAX, '\0');
  const ssize_t size = ::readlinkat(directory, name, text.data(), text.size());
  text.resize(size > 0 ? static_cast<size_t>(size) : 0);
  return text;
}

// Takes the first name from a path, with the slashes around it.
std::string take_name(std::string& path) {
  path.erase(0, path.find_first_not_of('/'));
  std::string name = path.substr(0, path.find('/'));
  path.erase(0, name.size());
  return name;
}

bool is_of_proc(const Fd& directory) {
  struct statfs about {};
  return ::fstatfs(directory.get(), &about) == 0 && about.f_type == PROC_SUPER_MAGIC;
}

Fd follow(const Fd& directory, const std::string& name) {
  return Fd{::openat(directory.get(), name.c_str(), O_PATH | O_CLOEXEC)};
}

Fd next_on_way(const Fd& directory, const std::string& name) {
  return Fd{::openat(directory.get(), name.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC)};
}

}  // namespace

PathLookup::PathLookup(const Process& process, const Owner* user)
    : process_(process),
      user_(user),
      root_(::open(process.proc_path("root").c_str(), O_PATH | O_CLOEXEC)) {}

bool PathLookup::may_wait_for(dev_t device) {
  const auto [known, is_new] = devices_.emplace(device, true);
  if (is_new) known->second = may_wait_for_others(process_, device);
  return known->second;
}

bool PathLookup::may_search(const Fd& directory) {
  const auto found = about(directory);
  if (!found || may_wait_for(device_of(*found))) return false;
  if (!user_) return true;
  const Permissions permissions{found->stx_uid, found->stx_gid, found->stx_mode,
                                may_have_acl(directory)};
  return permissions.allow(*user_, S_IXOTH);
}

Fd PathLookup::find(const std::string& path) {
  std::vector<Fd> way;  // the directories below the root, and the file
  std::string rest = path;
  for (int links = 0; links <= kMostLinks;) {
    const std::string name = take_name(rest);
    if (name.empty()) return way.empty() ? Fd{} : std::move(way.back());
    if (name == ".") continue;
    if (name == "..") {
      if (!way.empty()) way.pop_back();
      continue;
    }
    const Fd& directory = way.empty() ? root_ : way.back();
    if (!may_search(directory)) return {};
    Fd next = next_on_way(directory, name);
    const auto found = about(next);
    if (!found) return {};
    if (!S_ISLNK(found->stx_mode)) {
      way.push_back(std::move(next));
      continue;
    }
    ++links;
    if (is_of_proc(directory)) {
      // Its text is not where it leads, and only who may trace the process may know that.
      if (user_) return {};
      way.push_back(follow(directory, name));
      continue;
    }
    const std::string target = text_of_link(next.get(), "");
    if (target.empty()) return {};
    if (target.starts_with('/')) way.clear();
    rest = target + rest;
  }
  return {};
}

// On some file systems (btrfs, overlayfs) maps have another device than stat(2): then the name decides that the kernel
// gives to both.
bool is_mapped_as(const Fd& found, const MappedFile& file) {
  const auto status = about(found);
  if (!status || !S_ISREG(status->stx_mode) || status->stx_ino != file.inode) return false;
  if (device_of(*status) == file.device) return true;
  const std::string name = "/proc/self/fd/" + std::to_string(found.get());
  return text_of_link(AT_FDCWD, name.c_str()) == file.path;
}

bool is_same_file(const Fd& a, const Fd& b) {
  const auto one = about(a), other = about(b);
  return one && other && one->stx_ino == other->stx_ino && device_of(*one) == device_of(*other);
}

}  // namespace tracectl
