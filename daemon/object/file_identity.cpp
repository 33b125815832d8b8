// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/object/file_identity.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/vfs.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <string_view>

namespace tracectl {
namespace {

// linux/fcntl.h and fs/overlayfs/overlayfs.h. The handle of a file in an overlay, 3 bytes after its beginning: version,
// magic, length, flags, type, then the UUID of the file system below and the handle that the file has there.
constexpr int kHandleOnlyToCompare = 0x200;  // AT_HANDLE_FID
constexpr int kOverlayHandle = 0xf8;
constexpr size_t kUuid = 8, kUuidBytes = 16;

struct Handle {
  alignas(file_handle) std::array<char, sizeof(file_handle) + MAX_HANDLE_SZ> bytes{};

  const file_handle& get() const { return *reinterpret_cast<const file_handle*>(bytes.data()); }
  std::string_view content() const {
    return {bytes.data() + offsetof(file_handle, f_handle), get().handle_bytes};
  }
};

bool is_in_overlay(int fd) {
  struct statfs file_system {};
  return ::fstatfs(fd, &file_system) == 0 && file_system.f_type == OVERLAYFS_SUPER_MAGIC;
}

// None if it does not say which file system is below.
std::optional<Handle> handle_in_overlay(int fd) {
  if (!is_in_overlay(fd)) return std::nullopt;
  Handle handle;
  auto* to = reinterpret_cast<file_handle*>(handle.bytes.data());
  to->handle_bytes = MAX_HANDLE_SZ;
  int mount = 0;
  if (::name_to_handle_at(fd, "", to, &mount, AT_EMPTY_PATH | kHandleOnlyToCompare) != 0 ||
      to->handle_type != kOverlayHandle || handle.content().size() <= kUuid + kUuidBytes)
    return std::nullopt;
  const auto uuid = handle.content().substr(kUuid, kUuidBytes);
  const bool is_known = std::ranges::any_of(uuid, [](char byte) { return byte != 0; });
  return is_known ? std::optional(handle) : std::nullopt;
}

bool same_time(const timespec& a, const timespec& b) {
  return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec;
}

struct stat status_of_own_program() {
  struct stat status {};
  (void)::stat("/proc/self/exe", &status);
  return status;
}

}  // namespace

FileIdentity FileIdentity::of(const struct stat& status) {
  return {status.st_dev, status.st_ino, status.st_size, status.st_mtim, status.st_ctim};
}

Result<FileIdentity> FileIdentity::of(int fd) {
  struct stat status {};
  if (::fstat(fd, &status) != 0) return Error::from_errno("fstat");
  return of(status);
}

bool FileIdentity::operator==(const FileIdentity& other) const {
  return device == other.device && inode == other.inode && size == other.size &&
         same_time(modified, other.modified) && same_time(changed, other.changed);
}

bool is_one_file_in_overlays(int fd, int other_fd) {
  const auto handle = handle_in_overlay(fd), other = handle_in_overlay(other_fd);
  return handle && other && handle->content() == other->content();
}

bool is_of_root(const struct stat& status) {
  static const struct stat own = status_of_own_program();
  return status.st_uid == 0 && !(status.st_mode & (S_IWGRP | S_IWOTH)) &&
         status.st_dev == own.st_dev;
}

}  // namespace tracectl
