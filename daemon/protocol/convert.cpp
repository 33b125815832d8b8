// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/protocol/convert.h"

#include <limits>
#include <memory>

#include "daemon/base/nearest.h"

namespace tracectl::protocol {
namespace {

std::string element(const char* list, size_t index) {
  return std::string{"target."} + list + "[" + std::to_string(index) + "]";
}

Error refused(std::string field, const std::string& why) {
  std::string message = field + ": " + why;
  return {Code::invalid, std::move(message), std::move(field)};
}

Result<std::vector<pid_t>> pids_of(const std::vector<int64_t>& numbers) {
  std::vector<pid_t> pids;
  for (int64_t number : numbers) {
    if (number <= 0 || number > std::numeric_limits<pid_t>::max()) {
      return refused(element("pids", pids.size()), std::to_string(number) + " is no process id");
    }
    pids.push_back(static_cast<pid_t>(number));
  }
  return pids;
}

Status check_absolute(const char* list, const std::vector<std::string>& paths) {
  for (size_t i = 0; i < paths.size(); i++) {
    if (paths[i].starts_with('/') && paths[i].find('\0') == std::string::npos) continue;
    return refused(element(list, i), "give an absolute path");
  }
  return ok();
}

bool goes_up(const std::string& path) {
  return path.ends_with("/..") || path.find("/../") != std::string::npos;
}

Status check_cgroups(const char* list, const std::vector<std::string>& paths) {
  if (auto absolute = check_absolute(list, paths); !absolute) return absolute;
  for (size_t i = 0; i < paths.size(); i++)
    if (goes_up(paths[i]) || (paths[i].ends_with('/') && paths[i] != "/"))
      return refused(element(list, i), "give a path without .. and without a / at its end");
  return ok();
}

// They are kept, and shown to others.
Status check_names(const char* list, const std::vector<std::string>& names) {
  constexpr size_t kMostBytes = 512;
  const auto is_control = [](unsigned char c) { return c < 0x20 || c == 0x7f; };
  for (size_t i = 0; i < names.size(); i++)
    if (names[i].empty() || names[i].size() > kMostBytes ||
        std::ranges::any_of(names[i], is_control))
      return refused(element(list, i),
                     "give a name without control characters, of at most 512 bytes");
  return ok();
}

std::optional<ContainersPart> part_of(const NamedContainers& containers) {
  if (containers.empty()) return std::nullopt;
  return ContainersPart{containers.names, containers.pods, containers.cgroups};
}

Status check_units(const std::vector<std::string>& units) {
  for (size_t i = 0; i < units.size(); i++)
    if (units[i].empty() || units[i].find('/') != std::string::npos ||
        units[i].find('\0') != std::string::npos)
      return refused(element("units", i), "give the name of a unit: ssh.service");
  return ok();
}

Result<Follow> follow_of(const TargetPart& part) {
  if (!part.follow) return Follow::none;
  if (part.pids.empty())
    return refused("target.follow",
                   "children are followed of processes in `pids`; those that run an executable are "
                   "followed always");
  if (*part.follow == "children") return Follow::children;
  if (*part.follow == "first_child") return Follow::first_child;
  return refused("target.follow", "unknown \"" + *part.follow + "\": children, first_child" +
                                      did_you_mean(*part.follow, {"children", "first_child"}));
}

std::optional<std::string> follow_name(Follow follow) {
  if (follow == Follow::none) return std::nullopt;
  return follow == Follow::children ? "children" : "first_child";
}

}  // namespace

Result<NamedContainers> containers_of(const ContainersPart& part) {
  constexpr size_t kMostNames = 64, kMostCgroups = 256;  // a pod has several
  NamedContainers containers{part.names, part.pods, part.cgroups};
  if (containers.empty())
    return refused("target.containers", "give the names of containers or pods");
  if (std::max(part.names.size(), part.pods.size()) > kMostNames ||
      part.cgroups.size() > kMostCgroups)
    return refused("target.containers", "give at most 64 names, 64 pods and 256 cgroups");
  if (auto checked = check_names("containers.names", part.names); !checked) return checked.error();
  if (auto checked = check_names("containers.pods", part.pods); !checked) return checked.error();
  if (auto checked = check_names("containers.cgroups", part.cgroups); !checked)
    return checked.error();
  if (auto checked = check_cgroups("containers.cgroups", part.cgroups); !checked)
    return checked.error();
  return containers;
}

Result<Target> target_of(const TargetPart& part) {
  auto pids = pids_of(part.pids);
  if (!pids) return pids.error();
  if (Status status = check_absolute("executables", part.executables); !status)
    return status.error();
  if (Status status = check_absolute("will_map", part.will_map); !status) return status.error();
  if (!part.will_map.empty() && pids->size() != 1) {
    return refused("target.will_map",
                   "says what one process is going to map: give one pid with it");
  }
  auto follow = follow_of(part);
  if (!follow) return follow.error();
  Target target{*std::move(pids), part.executables, part.all, part.will_map};
  target.follow = *follow;
  if (auto checked = check_cgroups("cgroups", part.cgroups); !checked) return checked.error();
  if (auto checked = check_units(part.units); !checked) return checked.error();
  target.cgroups = part.cgroups;
  target.units = part.units;
  if (!part.containers) return target;
  auto containers = containers_of(*part.containers);
  if (!containers) return containers.error();
  target.containers = std::move(*containers);
  return target;
}

TargetPart part_of(const Target& target) {
  return {{target.pids.begin(), target.pids.end()},
          target.executables,
          target.all,
          target.will_map,
          follow_name(target.follow),
          target.cgroups,
          target.units,
          part_of(target.containers)};
}

Result<Scope> scope_of(std::string_view name) {
  if (name == "local") return Scope::local;
  if (name == "global") return Scope::global;
  if (name == "inlined") return Scope::inlined;
  return refused("scope", "unknown scope \"" + std::string{name} + "\": local, global, inlined" +
                              did_you_mean(name, {"local", "global", "inlined"}));
}

const char* name_of(Scope scope) {
  switch (scope) {
    case Scope::local: return "local";
    case Scope::global: return "global";
    case Scope::inlined: return "inlined";
  }
  return "";
}

ArgumentPart part_of(const Argument& argument, size_t index) {
  const std::string& declared = argument.declared_type;
  return {.name = argument.name.empty() ? "arg" + std::to_string(index) : argument.name,
          .type = type_name(argument),
          .place = argument.text,
          .readable = is_readable(argument),
          .kind = kind_name(argument),
          .declared_type = declared.empty() ? std::nullopt : std::optional(declared),
          .enumerators = std::nullopt,
          .members = std::nullopt};
}

ProbeNotification described(const EventSource& source) {
  ProbeNotification wire{.session = source.session, .probe = source.probe, .args = {}};
  if (source.result) {
    wire.result = part_of(*source.result, 0);
    if (!is_bare_register(*source.result)) wire.result->name = "retval";
  }
  for (const Argument& argument : source.arguments) {
    ArgumentPart& part = wire.args.emplace_back(part_of(argument, wire.args.size()));
    if (argument.enumerators) part.enumerators = *argument.enumerators;
  }
  return wire;
}

namespace {

Argument::Kind kind_of(const std::string& name) {
  using Kind = Argument::Kind;
  Argument tried;
  for (const Kind kind : {Kind::boolean, Kind::character, Kind::enumeration, Kind::pointer,
                          Kind::text, Kind::aggregate}) {
    tried.kind = kind;
    if (name == kind_name(tried)) return kind;
  }
  return Kind::integer;
}

// s32, u64, f64
void set_type(const std::string& type, Argument& argument) {
  argument.is_signed = type.starts_with('s');
  argument.is_float = type.starts_with('f');
  argument.size_bytes = type.ends_with("16")   ? 2
                        : type.ends_with("32") ? 4
                        : type.ends_with("64") ? 8
                                               : 1;
}

Argument argument_of(const ArgumentPart& part) {
  Argument argument;
  if (part.readable) argument.place = Argument::Place::in_register;
  if (part.kind == "aggregate")
    argument.is_string = part.readable;  // a struct that a function returns
  else
    set_type(part.type, argument);
  if (argument.is_float) argument.size_bytes = sizeof(double);  // as JSON has it
  argument.kind = kind_of(part.kind);
  argument.name = part.name;
  argument.text = part.place;
  argument.declared_type = part.declared_type.value_or("");
  if (part.enumerators) argument.enumerators = std::make_shared<Enumerators>(*part.enumerators);
  return argument;
}

}  // namespace

Arguments arguments_of(const ProbeNotification& notification) {
  Arguments arguments;
  for (const ArgumentPart& part : notification.args) arguments.push_back(argument_of(part));
  return arguments;
}

std::optional<Argument> result_of(const ProbeNotification& notification) {
  if (!notification.result) return std::nullopt;
  Argument result = argument_of(*notification.result);
  if (notification.result->kind == "void") result.place = Argument::Place::nothing;
  if (result.name == "retval") result.name.clear();
  return result;
}

}  // namespace tracectl::protocol
