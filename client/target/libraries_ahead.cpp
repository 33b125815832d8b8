// SPDX-License-Identifier: BSD-2-Clause
#include "client/target/libraries_ahead.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <set>

#include "client/target/shared_objects.h"
#include "daemon/process/chosen_files.h"

namespace tracectl {
namespace {

namespace fs = std::filesystem;

bool fits_any(const std::string& object, const std::vector<std::string>& paths) {
  return std::ranges::any_of(paths,
                             [&](const std::string& path) { return names_file(object, path); });
}

std::set<fs::path> directories_of(const std::vector<std::string>& files) {
  std::set<fs::path> directories;
  for (const std::string& file : files) directories.insert(fs::path(file).parent_path());
  return directories;
}

// The libraries of a program that has a directory of its own, as /usr/lib/jvm/java-17-openjdk-amd64.
bool is_own(const fs::path& root) {
  static const std::array<fs::path, 3> kShared{"/", "/usr", "/usr/local"};
  return std::ranges::find(kShared, root) == kShared.end();
}

void look_for_name(SharedObjects& search, const std::vector<std::string>& will_map) {
  for (const fs::path& directory : library_path()) search.look_in(directory);
  for (const fs::path& directory : directories_of(will_map)) search.look_in(directory);
  const fs::path root = fs::path(will_map.front()).parent_path().parent_path();
  if (is_own(root)) search.look_below(root / "lib");
}

}  // namespace

std::vector<std::string> libraries_ahead(const std::string& object,
                                         const std::vector<std::string>& will_map) {
  if (object.empty() || will_map.empty() || fits_any(object, will_map)) return {};
  SharedObjects search(object);
  if (is_path(object))
    search.add(object);
  else
    look_for_name(search, will_map);
  const std::set<std::string> found = search.take();
  if (found.size() > kMostAhead) return {};
  return {found.begin(), found.end()};
}

}  // namespace tracectl
