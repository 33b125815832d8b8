// SPDX-License-Identifier: BSD-2-Clause
#include "client/target/containers.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <iterator>
#include <nlohmann/json.hpp>
#include <utility>

#include "daemon/base/nearest.h"
#include "daemon/process/cgroups.h"
#include "daemon/protocol/json.h"

namespace tracectl {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr std::streamoff kMostBytes = 16 << 20;  // of a file
constexpr const char* kStorage = "/var/lib/containers/storage";
constexpr const char* kDocker = "/var/lib/docker/containers";
// Bundles of containerd for Kubernetes, and of CRI-O.
constexpr const char* kTasks = "/run/containerd/io.containerd.runtime.v2.task/k8s.io";
constexpr const char* kOverlays = "/run/containers/storage/overlay-containers";

// Null if it is none.
json parsed(std::string_view text) {
  const auto value = protocol::parse_json(text);
  return value ? value->value() : json();
}

std::string text_at(const json& object, const char* member) {
  if (!object.is_object()) return "";
  const auto found = object.find(member);
  return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

// The first of these members that there is.
std::string text_at_any(const json& object, std::initializer_list<const char*> members) {
  for (const char* member : members)
    if (auto text = text_at(object, member); !text.empty()) return text;
  return "";
}

std::optional<Container> with_id(std::string id) {
  if (!is_container_id(id)) return std::nullopt;
  return Container{.id = std::move(id)};
}

// Empty if it cannot be read, or is no regular file: others could be waited for.
std::string text_of(const fs::path& path) {
  std::error_code error;
  if (!fs::is_regular_file(path, error)) return "";
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  if (!file || file.tellg() > kMostBytes) return "";
  file.seekg(0);
  return {std::istreambuf_iterator<char>(file), {}};
}

template <class Visit> void visit_entries(const fs::path& directory, const Visit& visit) {
  std::error_code error;
  for (fs::directory_iterator entry(directory, error), end; !error && entry != end;
       entry.increment(error))
    visit(entry->path());
}

class Reading {
 public:
  explicit Reading(std::string root) : root_(std::move(root)) {}

  std::vector<Container> run() && {
    add_storage(root_ + kStorage);
    if (const char* home = std::getenv("HOME"))
      add_storage(root_ + home + "/.local/share/containers/storage");
    visit_entries(root_ + kDocker, [this](const fs::path& container) {
      add(container_of_docker(text_of(container / "config.v2.json")));
    });
    visit_entries(root_ + kTasks, [this](const fs::path& container) {
      add(container_of_bundle(container.filename(), text_of(container / "config.json")));
    });
    visit_entries(root_ + kOverlays, [this](const fs::path& container) {
      add(container_of_bundle(container.filename(), text_of(container / "userdata/config.json")));
    });
    return std::move(all_);
  }

 private:
  void add(std::optional<Container> container) {
    if (container) all_.push_back(std::move(*container));
  }
  // A directory for each driver: overlay-containers, vfs-containers.
  void add_storage(const std::string& storage) {
    visit_entries(storage, [this](const fs::path& driver) {
      if (!driver.filename().string().ends_with("-containers")) return;
      std::ranges::move(containers_of_storage(text_of(driver / "containers.json")),
                        std::back_inserter(all_));
    });
  }

  std::string root_;
  std::vector<Container> all_;
};

bool has_name(const Container& container, const std::string& name) {
  return std::ranges::find(container.names, name) != container.names.end();
}

bool is_part_of_id(const std::string& text) {
  constexpr size_t kFewestDigits = 4;
  return text.size() >= kFewestDigits &&
         text.find_first_not_of("0123456789abcdef") == std::string::npos;
}

Error no_such(const char* what, const std::string& name,
              const std::set<std::string, std::less<>>& names) {
  const std::vector<std::string_view> all(names.begin(), names.end());
  const std::string why =
      ::geteuid() == 0 ? "are known here: give" : "can be read here: ask as root, or give";
  const std::string known = all.empty() ? std::string("; no names of ") + what + "s " + why +
                                              " an id by --container, or --cgroup"
                                        : did_you_mean(name, all);
  return Error{Code::not_found, std::string("no ") + what + ' ' + name + " runs" + known, "target"};
}

}  // namespace

std::vector<Container> containers_of_storage(std::string_view text) {
  std::vector<Container> all;
  const json list = parsed(text);
  if (!list.is_array()) return all;
  for (const json& one : list) {
    auto container = with_id(text_at(one, "id"));
    if (!container) continue;
    if (const auto names = one.find("names"); names != one.end() && names->is_array())
      for (const json& name : *names)
        if (name.is_string()) container->names.push_back(name);
    all.push_back(std::move(*container));
  }
  return all;
}

std::optional<Container> container_of_docker(std::string_view text) {
  const json config = parsed(text);
  auto container = with_id(text_at(config, "ID"));
  if (!container) return std::nullopt;
  std::string name = text_at(config, "Name");
  if (name.starts_with('/')) name.erase(0, 1);
  if (!name.empty()) container->names.push_back(std::move(name));
  return container;
}

std::optional<Container> container_of_bundle(std::string id, std::string_view text) {
  auto container = with_id(std::move(id));
  const json config = parsed(text);
  if (!container || !config.is_object() || !config.contains("annotations")) return std::nullopt;
  const json& notes = config["annotations"];
  const auto space =
      text_at_any(notes, {"io.kubernetes.cri.sandbox-namespace", "io.kubernetes.pod.namespace"});
  const auto pod = text_at_any(notes, {"io.kubernetes.cri.sandbox-name", "io.kubernetes.pod.name"});
  const auto name =
      text_at_any(notes, {"io.kubernetes.cri.container-name", "io.kubernetes.container.name"});
  if (pod.empty()) return std::nullopt;
  container->pod = space + '/' + pod;
  if (!name.empty()) container->names.push_back(name);
  return container;
}

std::vector<Container> known_containers(const std::string& root) { return Reading(root).run(); }

Result<std::string> cgroup_of_container(const CgroupTree& tree, const std::vector<Container>& known,
                                        const std::string& name) {
  std::set<std::string> ids;
  std::set<std::string, std::less<>> names;
  for (const Container& one : known) {
    if (has_name(one, name)) ids.insert(one.id);
    names.insert(one.names.begin(), one.names.end());
  }
  if (ids.empty() && is_part_of_id(name)) ids.insert(name);
  std::set<std::string> paths;
  for (const std::string& id : ids) paths.merge(tree.of_containers(id));
  if (paths.empty()) return no_such("container", name, names);
  if (paths.size() > 1)
    return Error{Code::invalid,
                 "several containers are " + name + ", in " + *paths.begin() + " and " +
                     *std::next(paths.begin()) + ": choose one of them by its id",
                 "target"};
  return *paths.begin();
}

std::string pod_cgroup_of(const std::string& path) {
  const std::string around = path.substr(0, path.rfind('/'));
  const std::string_view name = std::string_view(around).substr(around.rfind('/') + 1);
  const bool is_pod = name.starts_with("pod") || name.find("-pod") != name.npos;
  return is_pod ? around : path;
}

Result<std::vector<std::string>> cgroups_of_pod(const CgroupTree& tree,
                                                const std::vector<Container>& known,
                                                const std::string& pod) {
  std::set<std::string> paths;
  std::set<std::string, std::less<>> pods;
  for (const Container& one : known) {
    if (!one.pod.empty()) pods.insert(one.pod);
    if (one.pod != pod) continue;
    for (const std::string& path : tree.of_containers(one.id)) paths.insert(pod_cgroup_of(path));
  }
  if (paths.empty()) return no_such("pod", pod, pods);
  return std::vector<std::string>(paths.begin(), paths.end());
}

std::set<std::string> cgroups_of_running(const std::vector<std::string>& containers,
                                         const std::vector<std::string>& pods) {
  std::set<std::string> running;
  const auto tree = CgroupTree::open();
  if (!tree) return running;
  const auto known = known_containers();
  for (const std::string& name : containers)
    if (auto path = cgroup_of_container(*tree, known, name)) running.insert(std::move(*path));
  for (const std::string& pod : pods)
    if (const auto paths = cgroups_of_pod(*tree, known, pod))
      running.insert(paths->begin(), paths->end());
  return running;
}

}  // namespace tracectl
