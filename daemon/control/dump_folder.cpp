// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/control/dump_folder.h"

#include <dirent.h>
#include <endian.h>
#include <fcntl.h>
#include <linux/posix_acl.h>
#include <linux/posix_acl_xattr.h>
#include <linux/xattr.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <memory>
#include <string_view>
#include <vector>

#include "daemon/base/clock.h"
#include "daemon/base/utc_text.h"

namespace tracectl {
namespace {

constexpr mode_t kEnteredByAll = 0711;
constexpr std::string_view kExtension = ".tct";
constexpr std::string_view kTimeForm = "00000000T000000.000000Z";  // 0: a digit

bool is_time(std::string_view text) {
  return text.size() == kTimeForm.size() &&
         std::equal(text.begin(), text.end(), kTimeForm.begin(), [](char is, char form) {
           return form == '0' ? std::isdigit(static_cast<unsigned char>(is)) != 0 : is == form;
         });
}

// Dumps of a session whose name begins with this one's do not match.
bool is_dump_of(const std::string& session, std::string_view file) {
  const std::string start = session + "-";
  if (!file.starts_with(start) || !file.ends_with(kExtension)) return false;
  file.remove_prefix(start.size());
  file.remove_suffix(std::min(file.size(), kExtension.size()));
  return is_time(file);
}

// Sorted, the oldest first.
std::vector<std::string> dumps_of(const std::string& session, int folder) {
  std::vector<std::string> names;
  const std::unique_ptr<DIR, int (*)(DIR*)> listing{
      ::fdopendir(::fcntl(folder, F_DUPFD_CLOEXEC, 0)), ::closedir};
  if (!listing) return names;
  ::rewinddir(listing.get());
  while (const dirent* entry = ::readdir(listing.get()))
    if (is_dump_of(session, entry->d_name)) names.emplace_back(entry->d_name);
  std::sort(names.begin(), names.end());
  return names;
}

// Lets the user read the file by an access control list (acl(5)).
int let_read(const Fd& file, uid_t user) {
  struct {
    posix_acl_xattr_header header{htole32(POSIX_ACL_XATTR_VERSION)};
    posix_acl_xattr_entry entries[5]{};
  } list;
  const auto entry = [](unsigned tag, unsigned may, uint32_t id) {
    return posix_acl_xattr_entry{htole16(static_cast<uint16_t>(tag)),
                                 htole16(static_cast<uint16_t>(may)), htole32(id)};
  };
  constexpr auto kNobody = static_cast<uint32_t>(ACL_UNDEFINED_ID);
  list.entries[0] = entry(ACL_USER_OBJ, ACL_READ | ACL_WRITE, kNobody);
  list.entries[1] = entry(ACL_USER, ACL_READ, user);
  list.entries[2] = entry(ACL_GROUP_OBJ, 0, kNobody);
  list.entries[3] = entry(ACL_MASK, ACL_READ, kNobody);
  list.entries[4] = entry(ACL_OTHER, 0, kNobody);
  return ::fsetxattr(file.get(), XATTR_NAME_POSIX_ACL_ACCESS, &list, sizeof(list), 0);
}

// Only root can give files away. A daemon of another user keeps the file, and lets the user read it.
int give(const Fd& file, uid_t user) {
  if (::fchown(file.get(), user, static_cast<gid_t>(-1)) == 0) return 0;
  return errno == EPERM ? let_read(file, user) : -1;
}

// If somebody else can write to the directory, they can remove files or replace them.
Status check_own(const Fd& folder, const std::string& path) {
  struct stat about {};
  if (::fstat(folder.get(), &about) != 0) return Error::from_errno("look at " + path);
  if (about.st_uid == ::geteuid() && !(about.st_mode & (S_IWGRP | S_IWOTH))) return ok();
  return Error{Code::denied, "others may write the directory of dumps, " + path +
                                 ": make it the daemon's own, chmod go-w, or choose another with "
                                 "--dumps"};
}

// A user who may write to a directory above can replace the one in it. In a sticky directory only the owner of an
// entry can.
Status check_way_to(const Fd& folder, const std::string& path) {
  Fd at{::openat(folder.get(), ".", O_PATH | O_DIRECTORY | O_CLOEXEC)};
  for (struct stat about{}, below{}; at; below = about) {
    if (::fstat(at.get(), &about) != 0) return Error::from_errno("look at what is above " + path);
    if (about.st_dev == below.st_dev && about.st_ino == below.st_ino) return ok();
    const bool is_trusted = about.st_uid == 0 || about.st_uid == ::geteuid();
    const bool others_write = about.st_mode & S_IWOTH || (about.st_mode & S_IWGRP && about.st_gid);
    if (!is_trusted || (others_write && !(about.st_mode & S_ISVTX)))
      return Error{Code::denied,
                   "others may put another directory into the place of " + path +
                       ", as one above it is theirs to write: choose another with --dumps"};
    at = Fd{::openat(at.get(), "..", O_PATH | O_DIRECTORY | O_CLOEXEC)};
  }
  return Error::from_errno("look at what is above " + path);
}

// Also accepts a path that ends with a slash.
std::filesystem::path absolute(const std::string& path) {
  const auto whole = std::filesystem::absolute(path);
  return whole.has_filename() ? whole : whole.parent_path();
}

// Makes the directories above `path`. Those that exist are checked before anything is made in them.
Result<Fd> make_parent_of(const std::string& path) {
  const auto parent = absolute(path).parent_path();
  auto there = parent;
  std::error_code error;
  while (!std::filesystem::exists(there, error) && there.has_relative_path())
    there = there.parent_path();
  const auto open = [](const std::filesystem::path& folder) {
    return Fd{::open(folder.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC)};
  };
  const Fd above = open(there);
  if (!above) return Error::from_errno("open " + there.string());
  if (auto safe = check_way_to(above, path); !safe) return safe.error();
  std::filesystem::create_directories(parent, error);
  if (error) return Error::from_errno("make the directory of " + path, error.value());
  Fd made = open(parent);
  if (!made) return Error::from_errno("open the directory of " + path);
  if (auto safe = check_way_to(made, path); !safe) return safe.error();
  return made;
}

}  // namespace

void DumpFolder::Place::remove() const { ::unlinkat(folder_.get(), name_.c_str(), 0); }

// This dump counts as the newest, even if the clock was set back.
void DumpFolder::Place::remove_older() const {
  auto others = dumps_of(session_, folder_.get());
  std::erase(others, name_);
  for (size_t i = 0; i + (kMostFiles - 1) < others.size(); ++i)
    ::unlinkat(folder_.get(), others[i].c_str(), 0);
}

Result<Fd> DumpFolder::open() const {
  const std::string& path = *path_;
  const auto parent = make_parent_of(path);
  if (!parent) return parent.error();
  const std::string name = absolute(path).filename();
  const bool is_new = ::mkdirat(parent->get(), name.c_str(), kEnteredByAll) == 0;
  Fd folder{::openat(parent->get(), name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)};
  if (!folder) return Error::from_errno("open the directory of dumps, " + path);
  if (auto own = check_own(folder, path); !own) return own.error();
  // The umask may have removed permissions.
  if (is_new && ::fchmod(folder.get(), kEnteredByAll) != 0)
    return Error::from_errno("let others enter " + path);
  return folder;
}

Result<DumpFolder::File> DumpFolder::make(const std::string& session, uid_t owner) const {
  auto folder = open();
  if (!folder) return folder.error();
  Place place;
  place.folder_ = std::move(*folder);
  place.session_ = session;
  place.name_ = session + "-" + utc_text(clock_ns(CLOCK_REALTIME)) + std::string(kExtension);
  place.path_ = *path_ + "/" + place.name_;
  Fd file{::openat(place.folder_.get(), place.name_.c_str(),
                   O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600)};
  if (!file) return Error::from_errno("make " + place.path_);
  if (give(file, owner) != 0) {
    Error error = Error::from_errno("give " + place.path_ + " to user " + std::to_string(owner));
    place.remove();
    return error;
  }
  return File{std::move(file), std::move(place)};
}

}  // namespace tracectl
