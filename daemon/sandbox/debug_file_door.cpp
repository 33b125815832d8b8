// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/sandbox/debug_file_door.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
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

// Checks the directories from the root on, or from one that is above the object, too.
bool may_be_reached(const std::string& path, size_t from, const struct stat& object) {
  for (size_t end = path.find('/', from); end != std::string::npos; end = path.find('/', end + 1)) {
    struct stat directory {};
    if (::stat(path.substr(0, end).c_str(), &directory) != 0) return false;
    if (!allows_readers_of(object, directory, Use::search)) return false;
  }
  return true;
}

// Split units lie where the program was compiled.
bool is_split_unit(const std::string& path) { return path.ends_with(".dwo"); }

struct Wish {
  enum class Where { nowhere, installed, beside, below };

  Where where = Where::nowhere;
  size_t known =
      0;  // the length of the directory, above the object too, from which it is looked up
};

// The length of the innermost directory that both are below, without its last slash.
size_t common_directory(std::string_view one, std::string_view other) {
  const auto differ = std::ranges::mismatch(one, other);
  return one.substr(0, static_cast<size_t>(differ.in1 - one.begin())).rfind('/');
}

Wish understand(const std::string& wished, const std::string& object_path) {
  if (is_installed(wished)) return {Wish::Where::installed, 0};
  if (is_beside(wished, object_path)) return {Wish::Where::beside, object_path.rfind('/')};
  if (is_split_unit(wished)) return {Wish::Where::below, common_directory(wished, object_path)};
  return {};
}

// Follows no link and enters no other file system, which the object's owner might serve.
Fd open_below(const std::string& path, size_t directory_length) {
  const Fd directory{
      ::open(("/" + path.substr(0, directory_length)).c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC)};
  struct open_how how {};
  how.flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK;
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_XDEV;
  const char* const rest = path.c_str() + directory_length + 1;
  return Fd{static_cast<int>(::syscall(SYS_openat2, directory.get(), rest, &how, sizeof(how)))};
}

Fd open_as(const Wish& wish, const std::string& path) {
  constexpr int kFlags = O_RDONLY | O_CLOEXEC | O_NONBLOCK;
  switch (wish.where) {
    case Wish::Where::nowhere: break;
    case Wish::Where::installed: return Fd{::open(path.c_str(), kFlags)};
    case Wish::Where::beside: return Fd{::open(path.c_str(), kFlags | O_NOFOLLOW)};
    case Wish::Where::below: return open_below(path, wish.known);
  }
  return Fd{};
}

}  // namespace

Fd open_debug_file(const std::string& wished, const std::string& object_path, int object) {
  if (!is_plain(wished) || !object_path.starts_with('/')) return Fd{};
  const Wish wish = understand(wished, object_path);
  Fd fd = open_as(wish, wished);
  struct stat file {
  }, of_object{};
  if (!fd || ::fstat(fd.get(), &file) != 0 || ::fstat(object, &of_object) != 0) return Fd{};
  if (!S_ISREG(file.st_mode) || !allows_readers_of(of_object, file, Use::read)) return Fd{};
  const bool is_of_object = file.st_uid == of_object.st_uid && file.st_dev == of_object.st_dev;
  if (wish.where != Wish::Where::installed && !is_of_object) return Fd{};
  return may_be_reached(wished, wish.known + 1, of_object) ? std::move(fd) : Fd{};
}

}  // namespace tracectl
