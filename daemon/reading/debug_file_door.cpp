// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/reading/debug_file_door.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <string_view>

#include "usdt/elf_file.h"

namespace tracectl {
namespace {

constexpr size_t kLongestPath = 4095;

bool is_plain(const std::string& path) {
  return path.size() <= kLongestPath && path.starts_with('/') &&
         path.find('\0') == std::string::npos && path.find("/../") == std::string::npos &&
         !path.ends_with("/..");
}

bool is_installed(const std::string& path) {
  return path.starts_with(std::string(kDebugRoot) + "/");
}

bool is_beside(std::string_view path, std::string_view object) {
  const std::string_view folder = object.substr(0, object.rfind('/') + 1);
  if (!path.starts_with(folder)) return false;
  std::string_view rest = path.substr(folder.size());
  constexpr std::string_view kDebug = ".debug/";
  if (rest.starts_with(kDebug)) rest.remove_prefix(kDebug.size());
  return !rest.empty() && rest.find('/') == std::string_view::npos;
}

bool same_owner_and_place(int fd, int object) {
  struct stat one {
  }, other{};
  return ::fstat(fd, &one) == 0 && ::fstat(object, &other) == 0 && one.st_uid == other.st_uid &&
         one.st_dev == other.st_dev;
}

bool is_regular(int fd) {
  struct stat status {};
  return ::fstat(fd, &status) == 0 && S_ISREG(status.st_mode);
}

}  // namespace

Fd open_debug_file(const std::string& wished, const std::string& object_path, int object) {
  const bool installed = is_installed(wished);
  if (!is_plain(wished) || !(installed || is_beside(wished, object_path))) return Fd{};
  const int flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | (installed ? 0 : O_NOFOLLOW);
  Fd fd{::open(wished.c_str(), flags)};
  if (!fd || !is_regular(fd.get())) return Fd{};
  if (!installed && !same_owner_and_place(fd.get(), object)) return Fd{};
  return fd;
}

}  // namespace tracectl
