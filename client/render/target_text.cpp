// SPDX-License-Identifier: BSD-2-Clause
#include "client/render/target_text.h"

#include <fmt/format.h>

#include "client/render/call_names.h"

namespace tracectl {

std::string target_text(const protocol::TargetPart& target) {
  std::string text;
  const auto add = [&](const std::string& part) { text += (text.empty() ? "" : " ") + part; };
  for (const int64_t pid : target.pids) add(fmt::format("-p {}", pid));
  for (const std::string& path : target.executables) add("-x " + path);
  for (const std::string& unit : target.units) add("-u " + unit);
  for (const std::string& path : target.cgroups) add("--cgroup " + path);
  if (const auto& containers = target.containers) {
    for (const std::string& name : containers->names) add("--container " + name);
    for (const std::string& pod : containers->pods) add("--pod " + pod);
  }
  if (target.all) add("-a");
  if (target.follow) add(*target.follow == "children" ? "-f" : "--first-child");
  return printable(text);
}

}  // namespace tracectl
