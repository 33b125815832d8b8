// SPDX-License-Identifier: BSD-2-Clause
#include "client/target/libraries_ahead.h"

#include <elf.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <set>
#include <sstream>

#include "daemon/base/fd.h"
#include "daemon/model/pattern.h"
#include "daemon/process/chosen_files.h"

namespace tracectl {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMostEntries = 10000;  // looked at below one program
constexpr int kMostLevels = 3;          // below ../lib: java has lib/server/libjvm.so

// By the first bytes of the file header (elf(5)).
bool is_shared_object(const std::string& path) {
  const Fd fd{::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
  struct stat status {};
  if (!fd || ::fstat(fd.get(), &status) != 0 || !S_ISREG(status.st_mode)) return false;
  Elf64_Ehdr header{};
  if (::pread(fd.get(), &header, sizeof header, 0) != ssize_t{sizeof header}) return false;
  return std::memcmp(header.e_ident, ELFMAG, SELFMAG) == 0 &&
         header.e_ident[EI_CLASS] == ELFCLASS64 && header.e_type == ET_DYN;
}

std::string real_path(const fs::path& path) {
  std::error_code error;
  const fs::path real = fs::canonical(path, error);
  return error ? std::string() : real.string();
}

class Search {
 public:
  explicit Search(const std::string& object) : object_(object) {}

  void add(const fs::path& path) {
    const std::string real = real_path(path);
    if (!real.empty() && is_shared_object(real)) found_.insert(real);
  }

  void look_in(const fs::path& directory) {
    if (!looked_.insert(directory.string()).second) return;
    std::error_code error;
    for (fs::directory_iterator it(directory, error), end; !error && it != end; it.increment(error))
      look_at(*it);
  }

  void look_below(const fs::path& directory) {
    std::error_code error;
    size_t entries = 0;
    fs::recursive_directory_iterator it(directory, error), end;
    for (; !error && it != end && ++entries < kMostEntries; it.increment(error)) {
      if (it.depth() == kMostLevels) it.disable_recursion_pending();
      look_at(*it);
    }
  }

  std::set<std::string> take() { return std::move(found_); }

 private:
  void look_at(const fs::directory_entry& entry) {
    if (glob_match(object_, entry.path().filename().string())) add(entry.path());
  }

  const std::string& object_;
  std::set<std::string> looked_, found_;
};

std::set<fs::path> directories_of(const std::vector<std::string>& files) {
  std::set<fs::path> directories;
  for (const std::string& file : files) directories.insert(fs::path(file).parent_path());
  return directories;
}

std::vector<fs::path> library_path() {
  std::vector<fs::path> directories;
  const char* value = std::getenv("LD_LIBRARY_PATH");
  std::istringstream parts(value ? value : "");
  for (std::string part; std::getline(parts, part, ':');)
    if (is_path(part)) directories.emplace_back(part);
  return directories;
}

// The libraries of a program that has a directory of its own, as /usr/lib/jvm/java-17-openjdk-amd64.
bool is_own(const fs::path& root) {
  static const std::array<fs::path, 3> kShared{"/", "/usr", "/usr/local"};
  return std::ranges::find(kShared, root) == kShared.end();
}

void look_for_name(Search& search, const std::vector<std::string>& will_map) {
  for (const fs::path& directory : library_path()) search.look_in(directory);
  for (const fs::path& directory : directories_of(will_map)) search.look_in(directory);
  const fs::path root = fs::path(will_map.front()).parent_path().parent_path();
  if (is_own(root)) search.look_below(root / "lib");
}

}  // namespace

std::vector<std::string> libraries_ahead(const std::string& object,
                                         const std::vector<std::string>& will_map) {
  if (object.empty() || will_map.empty()) return {};
  Search search(object);
  if (is_path(object))
    search.add(object);
  else
    look_for_name(search, will_map);
  std::set<std::string> found = search.take();
  for (const std::string& mapped : will_map) found.erase(mapped);
  if (found.size() > kMostAhead) return {};
  return {found.begin(), found.end()};
}

}  // namespace tracectl
