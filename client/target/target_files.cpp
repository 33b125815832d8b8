// SPDX-License-Identifier: BSD-2-Clause
#include "client/target/target_files.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>

#include "daemon/model/pattern.h"
#include "daemon/process/cgroup_tree.h"
#include "daemon/process/chosen_files.h"
#include "daemon/process/running.h"

namespace tracectl {
namespace {

class Opening {
 public:
  explicit Opening(const protocol::TargetPart& target) : target_(target) {}

  void add_object(const std::string& object) {
    if (!target_.will_map.empty()) return add_starting(object);
    for (const int64_t pid : target_.pids) add_mapped(object, static_cast<pid_t>(pid));
    for (const std::string& path : target_.executables) add_executable(object, path);
    for (const std::string& path : cgroups()) add_in_cgroup(object, path);
    const bool none = target_.pids.empty() && target_.executables.empty() &&
                      target_.cgroups.empty() && target_.units.empty();
    const bool by_path = target_.all || none;
    if (by_path && is_path(object)) add_path(object);
  }

  OpenedFiles take() { return std::move(opened_); }

 private:
  bool has(const std::string& path) const {
    return std::find(opened_.paths.begin(), opened_.paths.end(), path) != opened_.paths.end();
  }

  void add(const std::string& path, Fd fd) {
    struct stat status {};
    if (!fd || ::fstat(fd.get(), &status) != 0 || !S_ISREG(status.st_mode)) return;
    if (opened_.paths.size() == OpenedFiles::kMost) return;
    opened_.paths.push_back(path);
    opened_.files.push_back(std::move(fd));
  }

  void add_path(const std::string& path) {
    if (!has(path)) add(path, Fd{::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)});
  }

  void add_starting(const std::string& object) {
    for (const std::string& path : target_.will_map)
      if (object.empty() ? path == target_.will_map.front() : names_file(object, path))
        add_path(path);
  }

  void add_mapped(const std::string& object, pid_t pid) {
    const auto process = Process::open(pid);
    if (!process) return;
    const auto files = executable_files(*process);
    if (!files) return;
    const auto chosen = choose_files(*process, *files, object);
    if (!chosen) return;
    for (const MappedFile& file : *chosen) {
      if (has(file.path)) continue;
      if (auto fd = open_mapped(*process, file)) add(file.path, std::move(*fd));
    }
  }

  // A library is traced in the processes that now run the file.
  void add_executable(const std::string& object, const std::string& path) {
    add_path(path);
    struct stat status {};
    if (object.empty() || names_file(object, path) || ::stat(path.c_str(), &status) != 0) return;
    for (const pid_t pid : processes_running(status.st_dev, status.st_ino)) add_mapped(object, pid);
  }

  // The daemon reports those that cannot be found.
  std::vector<std::string> cgroups() const {
    auto paths = target_.cgroups;
    const auto tree = CgroupTree::open();
    if (!tree) return {};
    for (const std::string& unit : target_.units)
      if (auto path = tree->of_unit(unit)) paths.push_back(std::move(*path));
    return paths;
  }

  void add_in_cgroup(const std::string& object, const std::string& path) {
    if (const auto tree = CgroupTree::open())
      for (const pid_t pid : tree->processes_in(path)) add_mapped(object, pid);
  }

  const protocol::TargetPart& target_;
  OpenedFiles opened_;
};

std::vector<std::string> objects_of(const std::vector<std::string>& patterns) {
  std::vector<std::string> objects;
  for (const std::string& text : patterns)
    if (auto pattern = parse_pattern(text)) objects.push_back(std::move(pattern->object));
  return objects;
}

}  // namespace

std::vector<int> OpenedFiles::descriptors() const {
  std::vector<int> all;
  for (const Fd& file : files) all.push_back(file.get());
  for (const Fd& file : debug_files) all.push_back(file.get());
  return all;
}

OpenedFiles open_files(const std::vector<std::string>& patterns,
                       const protocol::TargetPart& target) {
  Opening opening(target);
  for (const std::string& object : objects_of(patterns)) opening.add_object(object);
  return opening.take();
}

OpenedFiles open_files(const protocol::StageSet& request) {
  Opening opening(request.target);
  for (const std::string& object : objects_of(request)) opening.add_object(object);
  return opening.take();
}

std::vector<std::string> objects_of(const protocol::StageSet& request) {
  std::vector<std::string> patterns = request.patterns;
  if (request.from) patterns.push_back(*request.from);
  if (request.graph) {
    const auto& graph = *request.graph;
    patterns.insert(patterns.end(), graph.only.begin(), graph.only.end());
    patterns.insert(patterns.end(), graph.beside.begin(), graph.beside.end());
  }
  return objects_of(patterns);
}

}  // namespace tracectl
