// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/protocol/convert.h"

#include <limits>

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

}  // namespace

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
  return Target{*std::move(pids), part.executables, part.all, part.will_map};
}

TargetPart part_of(const Target& target) {
  return {
      {target.pids.begin(), target.pids.end()}, target.executables, target.all, target.will_map};
}

Result<Scope> scope_of(std::string_view name) {
  if (name == "local") return Scope::local;
  if (name == "global") return Scope::global;
  return refused("scope", "unknown scope \"" + std::string{name} + "\": local, global" +
                              did_you_mean(name, {"local", "global"}));
}

const char* name_of(Scope scope) { return scope == Scope::local ? "local" : "global"; }

ArgumentPart part_of(const Argument& argument, size_t index) {
  return {"arg" + std::to_string(index), type_name(argument), argument.text,
          argument.place != Argument::Place::unreadable};
}

}  // namespace tracectl::protocol
