// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/process/cgroup_tree.h"

#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <string_view>

#include "daemon/base/nearest.h"
#include "daemon/process/cgroups.h"
#include "daemon/process/unit_files.h"

namespace tracectl {
namespace {

namespace fs = std::filesystem;

std::string content_of_file(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

// Cgroups come and go: one that cannot be read no longer exists.
template <class Visit> void visit_directories(const fs::path& at, const Visit& visit) {
  std::error_code error;
  visit(at);
  for (fs::directory_iterator entry(at, error), end; !error && entry != end; entry.increment(error))
    if (std::error_code gone; entry->is_directory(gone) && !entry->is_symlink(gone))
      visit_directories(entry->path(), visit);
}

// systemd prefixes _ to names that the kernel might use itself.
bool is_of_unit(const std::string& name, const std::string& unit) {
  return name == unit || name == "_" + unit;
}

}  // namespace

Result<CgroupTree> CgroupTree::open() {
  auto mount = cgroup2_mount(content_of_file("/proc/self/mountinfo"));
  if (!mount)
    return Error{Code::unsupported, "cgroups of version 2 are mounted nowhere on this machine",
                 "target"};
  return CgroupTree(std::move(*mount));
}

std::string CgroupTree::path_of(const std::string& directory) const {
  std::string path = directory;
  if (path == mount_ || path.starts_with(mount_ + "/")) path.erase(0, mount_.size());
  while (path.ends_with('/')) path.pop_back();
  return path.starts_with('/') ? path : "/" + path;
}

Result<uint64_t> CgroupTree::id_of(const std::string& path) const {
  struct stat status {};
  const std::string directory = mount_ + path;
  if (::stat(directory.c_str(), &status) != 0 || !S_ISDIR(status.st_mode))
    return Error{Code::not_found, "there is no cgroup " + path + " below " + mount_, "target"};
  return uint64_t{status.st_ino};
}

void CgroupTree::visit(const std::string& path,
                       const std::function<void(uint64_t id)>& visitor) const {
  visit_directories(mount_ + path, [&](const fs::path& directory) {
    struct stat status {};
    if (::stat(directory.c_str(), &status) == 0) visitor(status.st_ino);
  });
}

std::vector<pid_t> CgroupTree::processes_in(const std::string& path) const {
  std::vector<pid_t> pids;
  visit_directories(mount_ + path, [&](const fs::path& directory) {
    std::ifstream file(directory / "cgroup.procs");
    for (pid_t pid = 0; file >> pid;)
      if (pid > 0) pids.push_back(pid);
  });
  std::ranges::sort(pids);
  pids.erase(std::unique(pids.begin(), pids.end()), pids.end());
  return pids;
}

Error CgroupTree::no_unit(const std::string& unit) const {
  std::set<std::string> units = installed_units();
  if (units.contains(unit))
    return Error{Code::not_found,
                 "unit " + unit + " does not run: \"systemctl start " + unit +
                     "\" starts it; or choose the place where it will be by --cgroup",
                 "target"};
  visit_directories(mount_, [&](const fs::path& directory) {
    std::string name = directory.filename();
    if (name.starts_with('_')) name.erase(0, 1);
    if (name.find('.') != std::string::npos) units.insert(std::move(name));
  });
  const std::vector<std::string_view> names(units.begin(), units.end());
  return Error{Code::not_found,
               "unit " + unit +
                   " has no cgroup now: start it first, or choose the place where it will be by "
                   "--cgroup" +
                   did_you_mean(unit, names),
               "target"};
}

Result<std::string> CgroupTree::of_unit(const std::string& unit) const {
  std::vector<std::string> nearest;
  auto depth = [](const std::string& path) { return std::ranges::count(path, '/'); };
  visit_directories(mount_, [&](const fs::path& directory) {
    if (!is_of_unit(directory.filename(), unit)) return;
    std::string path = directory.string().substr(mount_.size());
    if (!nearest.empty() && depth(path) > depth(nearest.front())) return;
    if (!nearest.empty() && depth(path) < depth(nearest.front())) nearest.clear();
    nearest.push_back(std::move(path));
  });
  if (nearest.empty()) return no_unit(unit);
  if (nearest.size() > 1)
    return Error{Code::invalid,
                 "there are several units " + unit + ", in " + nearest[0] + " and " + nearest[1] +
                     ": choose one of them by --cgroup",
                 "target"};
  return nearest.front();
}

std::set<std::string> CgroupTree::of_containers(const std::string& id_prefix) const {
  std::map<std::string, std::string> paths;  // by id
  visit_directories(mount_, [&](const fs::path& directory) {
    const auto id = container_id_of(directory.filename().native());
    if (!id || !id->starts_with(id_prefix)) return;
    std::string path = directory.string().substr(mount_.size());
    const auto [known, is_new] = paths.try_emplace(*id, path);
    if (!is_new && path.size() < known->second.size()) known->second = std::move(path);
  });
  std::set<std::string> found;
  for (auto& [id, path] : paths) found.insert(std::move(path));
  return found;
}

// 0::/system.slice/ssh.service
std::string cgroup_of(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/cgroup");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("0::")) return line.substr(3);
  return "/";
}

bool cgroup_exists(const std::string& path) {
  const auto tree = CgroupTree::open();
  return tree && tree->id_of(path);
}

}  // namespace tracectl
