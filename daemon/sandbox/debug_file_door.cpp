// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/sandbox/debug_file_door.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <string_view>
#include <utility>

#include "daemon/object/elf_file.h"

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

// The shift from a permission bit for reading.
enum class Use : unsigned { read = 0, search = 2 };

// Whether everybody who may read the object may use another file or directory in this way.
bool allows_readers_of(const struct stat& object, const struct stat& other, Use use) {
  constexpr mode_t kReading = S_IRUSR | S_IRGRP | S_IROTH;
  const auto places = static_cast<unsigned>(use);
  if (other.st_mode & (S_IROTH >> places)) return true;
  const mode_t readers = (object.st_mode & kReading) >> places;
  return other.st_uid == object.st_uid && other.st_gid == object.st_gid &&
         !(readers & ~other.st_mode);
}

// Checks the directories below the root or, for a file beside the object, those below the object's
// own.
bool may_be_reached(const std::string& path, size_t from, const struct stat& object) {
  for (size_t end = path.find('/', from); end != std::string::npos; end = path.find('/', end + 1)) {
    struct stat directory {};
    if (::stat(path.substr(0, end).c_str(), &directory) != 0) return false;
    if (!allows_readers_of(object, directory, Use::search)) return false;
  }
  return true;
}

}  // namespace

Fd open_debug_file(const std::string& wished, const std::string& object_path, int object) {
  const bool installed = is_installed(wished);
  if (!is_plain(wished) || !(installed || is_beside(wished, object_path))) return Fd{};
  const int flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | (installed ? 0 : O_NOFOLLOW);
  Fd fd{::open(wished.c_str(), flags)};
  struct stat file {
  }, of_object{};
  if (!fd || ::fstat(fd.get(), &file) != 0 || ::fstat(object, &of_object) != 0) return Fd{};
  if (!S_ISREG(file.st_mode) || !allows_readers_of(of_object, file, Use::read)) return Fd{};
  const bool beside = file.st_uid == of_object.st_uid && file.st_dev == of_object.st_dev;
  if (!installed && !beside) return Fd{};
  const size_t known = installed ? 0 : object_path.rfind('/');
  return may_be_reached(wished, known + 1, of_object) ? std::move(fd) : Fd{};
}

}  // namespace tracectl
