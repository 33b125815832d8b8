// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/trace/object.h"

#include <algorithm>

namespace tracectl {
namespace {

bool same_time(const timespec& a, const timespec& b) {
  return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec;
}

}  // namespace

Result<FileIdentity> FileIdentity::of(int fd) {
  struct stat status {};
  if (::fstat(fd, &status) != 0) return Error::from_errno("fstat");
  return FileIdentity{status.st_dev, status.st_ino, status.st_size, status.st_mtim, status.st_ctim};
}

bool FileIdentity::operator==(const FileIdentity& other) const {
  return device == other.device && inode == other.inode && size == other.size &&
         same_time(modified, other.modified) && same_time(changed, other.changed);
}

Object::Object(std::string path, Fd fd, FileIdentity identity, ElfFile elf)
    : path_(std::move(path)), fd_(std::move(fd)), identity_(identity), elf_(std::move(elf)) {}

Result<ObjectPtr> Object::open(Fd fd, const std::string& path) {
  auto identity = FileIdentity::of(fd.get());
  if (!identity) return identity.error().in(path);
  auto elf = ElfFile::open(fd.get(), path);
  if (!elf) return elf.error();
  return ObjectPtr{new Object(path, std::move(fd), *identity, std::move(*elf))};
}

const Result<std::vector<UsdtSite>>& Object::usdt_sites() const {
  if (!usdt_sites_) usdt_sites_ = read_usdt_sites(elf_);
  return *usdt_sites_;
}

const UnwindRanges& Object::unwind_ranges() const {
  if (!unwind_ranges_) unwind_ranges_.emplace(elf_);
  return *unwind_ranges_;
}

Result<ObjectPtr> Objects::open(Fd fd, const std::string& path) {
  auto identity = FileIdentity::of(fd.get());
  if (!identity) return identity.error().in(path);
  const auto kept = std::find_if(recent_.begin(), recent_.end(), [&](const ObjectPtr& object) {
    return object->path() == path && object->identity() == *identity;
  });
  if (kept != recent_.end()) {
    recent_.splice(recent_.begin(), recent_, kept);
    return recent_.front();
  }
  auto object = Object::open(std::move(fd), path);
  if (!object) return object.error();
  recent_.push_front(*object);
  if (recent_.size() > kMostKept) recent_.pop_back();
  return *object;
}

}  // namespace tracectl
