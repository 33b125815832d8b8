// SPDX-License-Identifier: BSD-2-Clause
#include "client/target/target.h"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <set>
#include <utility>

#include "client/target/containers.h"
#include "daemon/process/cgroup_tree.h"
#include "daemon/process/will_map.h"

namespace tracectl {
namespace {

// Absolute, because the daemon has another working directory than the user. A name without a directory is also looked
// for in $PATH, as a command's.
Result<std::string> absolute(const std::string& path) {
  std::error_code error;
  auto full = std::filesystem::canonical(path, error);
  if (error && path.find('/') == std::string::npos)
    if (const auto found = find_program(path)) full = std::filesystem::canonical(*found, error);
  if (error && path.find('/') == std::string::npos)
    return Error{Code::not_found,
                 "there is no file " + path + " here, and no program " + path + " in PATH"};
  if (error) return Error::from_errno("cannot open " + path, error.value());
  return full.string();
}

// As systemctl(1) does.
std::string with_suffix(const std::string& unit) {
  return unit.find('.') == std::string::npos ? unit + ".service" : unit;
}

Status add_containers(const ProbeOptions& options, const CgroupTree& tree, ChosenTarget& chosen) {
  if (options.containers.empty() && options.pods.empty()) return ok();
  const auto known = known_containers();
  protocol::ContainersPart part{.names = options.containers, .pods = options.pods};
  for (const std::string& name : options.containers) {
    auto path = cgroup_of_container(tree, known, name);
    if (!path) return path.error();
    part.cgroups.push_back(std::move(*path));
  }
  for (const std::string& pod : options.pods) {
    auto paths = cgroups_of_pod(tree, known, pod);
    if (!paths) return paths.error();
    std::ranges::move(*paths, std::back_inserter(part.cgroups));
  }
  std::ranges::copy(part.cgroups, std::back_inserter(chosen.part.cgroups));
  chosen.containers = std::move(part);
  return ok();
}

bool chooses_cgroups(const ProbeOptions& options) {
  return !options.cgroups.empty() || !options.containers.empty() || !options.pods.empty();
}

Status add_cgroups(const ProbeOptions& options, ChosenTarget& chosen) {
  if (!chooses_cgroups(options)) return ok();
  const auto tree = CgroupTree::open();
  if (!tree) return tree.error();
  for (const std::string& directory : options.cgroups)
    chosen.part.cgroups.push_back(tree->path_of(directory));
  return add_containers(options, *tree, chosen);
}

Status add_command(const ProbeOptions& options, ChosenTarget& chosen) {
  auto command = Command::start(options.command);
  if (!command) return command.error();
  auto mapped = will_map(command->path());
  if (!mapped) return mapped.error();
  if (options.executables.empty()) {
    chosen.part.pids.push_back(command->pid());
    chosen.part.will_map = std::move(*mapped);
  }
  chosen.command = std::move(*command);
  return ok();
}

}  // namespace

Result<ChosenTarget> choose_target(const ProbeOptions& options) {
  ChosenTarget chosen;
  chosen.part.all = options.all;
  if (options.command.empty())
    chosen.part.pids = options.pids;
  else if (!options.pids.empty() || options.all || !options.units.empty() ||
           chooses_cgroups(options))
    return Error{Code::invalid, "choose either -- COMMAND or other targets than -x, not both",
                 "target"};
  for (const std::string& executable : options.executables) {
    auto path = absolute(executable);
    if (!path) return path.error();
    chosen.part.executables.push_back(std::move(*path));
  }
  for (const std::string& unit : options.units) chosen.part.units.push_back(with_suffix(unit));
  if (auto added = add_cgroups(options, chosen); !added) return added.error();
  if (options.follow) chosen.part.follow = "children";
  if (options.first_child) chosen.part.follow = "first_child";
  if (!options.command.empty())
    if (auto added = add_command(options, chosen); !added) return added.error();
  return chosen;
}

protocol::TargetPart with_names(protocol::TargetPart part,
                                const std::optional<protocol::ContainersPart>& containers) {
  if (!containers) return part;
  const std::set<std::string> of_names(containers->cgroups.begin(), containers->cgroups.end());
  std::erase_if(part.cgroups, [&](const std::string& path) { return of_names.contains(path); });
  part.containers = containers;
  return part;
}

protocol::TargetPart with_cgroups_only(protocol::TargetPart part) {
  if (!part.containers) return part;
  std::ranges::move(part.containers->cgroups, std::back_inserter(part.cgroups));
  part.containers.reset();
  return part;
}

bool chooses_target(const ProbeOptions& options) {
  return !options.pids.empty() || !options.executables.empty() || !options.units.empty() ||
         !options.command.empty() || options.all || chooses_cgroups(options);
}

bool is_chosen(const protocol::TargetPart& target) {
  return !target.pids.empty() || !target.executables.empty() || target.all ||
         !target.units.empty() || !target.cgroups.empty() || target.containers;
}

const char* scope_of(const ProbeOptions& options) {
  return options.inlined ? "inlined" : options.global ? "global" : "local";
}

}  // namespace tracectl
