// SPDX-License-Identifier: BSD-2-Clause
#include "client/target/shared_objects.h"

#include <elf.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <sstream>

#include "daemon/base/fd.h"
#include "daemon/model/pattern.h"

namespace tracectl {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMostEntries = 10000;
constexpr int kMostLevels = 3;  // below the directory's own: java has lib/server/libjvm.so

}  // namespace

// By the first bytes of the file header (elf(5)). Programs that can be loaded anywhere have the type of shared objects.
bool is_elf_file(const std::string& path) {
  struct stat status {};
  // To open a device can be to start it.
  if (::stat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return false;
  const Fd fd{::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
  if (!fd || ::fstat(fd.get(), &status) != 0 || !S_ISREG(status.st_mode)) return false;
  Elf64_Ehdr header{};
  if (::pread(fd.get(), &header, sizeof header, 0) != ssize_t{sizeof header}) return false;
  return std::memcmp(header.e_ident, ELFMAG, SELFMAG) == 0 &&
         header.e_ident[EI_CLASS] == ELFCLASS64 &&
         (header.e_type == ET_DYN || header.e_type == ET_EXEC);
}

std::string real_path(const fs::path& path) {
  std::error_code error;
  const fs::path real = fs::canonical(path, error);
  return error ? std::string() : real.string();
}

std::vector<fs::path> library_path() {
  std::vector<fs::path> directories;
  const char* value = std::getenv("LD_LIBRARY_PATH");
  std::istringstream parts(value ? value : "");
  for (std::string part; std::getline(parts, part, ':');)
    if (fs::path(part).is_absolute()) directories.emplace_back(part);
  return directories;
}

void SharedObjects::add(const fs::path& path) {
  const std::string real = real_path(path);
  if (is_elf_file(real)) found_.insert(real);
}

void SharedObjects::look_in(const fs::path& directory) {
  if (!looked_.insert(directory.string()).second) return;
  std::error_code error;
  for (fs::directory_iterator it(directory, error), end; !error && it != end; it.increment(error))
    look_at(*it);
}

void SharedObjects::look_below(const fs::path& directory) {
  std::error_code error;
  size_t entries = 0;
  fs::recursive_directory_iterator it(directory, error), end;
  for (; !error && it != end && ++entries < kMostEntries; it.increment(error)) {
    if (it.depth() == kMostLevels) it.disable_recursion_pending();
    look_at(*it);
  }
}

void SharedObjects::look_at(const fs::directory_entry& entry) {
  if (glob_match(name_, entry.path().filename().string())) add(entry.path());
}

}  // namespace tracectl
