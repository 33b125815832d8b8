// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/saved/said.h"

namespace tracectl {
namespace {

std::string said_in(const Target& target) {
  std::string said = target.all ? "all" : "";
  for (const pid_t pid : target.pids) said += ' ' + std::to_string(pid);
  said += " follow " + std::to_string(static_cast<int>(target.follow));
  for (const auto* names : {&target.executables, &target.cgroups, &target.units}) {
    for (const std::string& name : *names) said += '\n' + name;
    said += '\n';
  }
  // Nothing where there are none, as former daemons wrote it.
  for (const std::string& name : target.containers.names) said += "container " + name + '\n';
  for (const std::string& pod : target.containers.pods) said += "pod " + pod + '\n';
  return said;
}

}  // namespace

std::string said_in(const Setting& setting) {
  const Spec& spec = setting.spec;
  std::string said = to_string(setting.pattern) + '\n' +
                     std::to_string(static_cast<int>(setting.pattern.scope)) + ' ' +
                     name_of(setting.returns) + '\n' + to_string(spec) + '\n';
  for (const auto* condition : {&spec.when, &spec.keep_if})
    said += (*condition ? to_string(**condition) : "") + '\n';
  if (const auto& latency = setting.latency)
    said += to_string(latency->from) + '\n' + keys_text(latency->by) + '\n' +
            std::to_string(latency->slowest) + '\n';
  for (const auto* patterns : {&setting.graph.only, &setting.graph.beside}) {
    for (const Pattern& pattern : *patterns) said += to_string(pattern) + '\n';
    said += '\n';
  }
  for (const std::string& skipped : setting.graph.skip) said += skipped + '\n';
  return said + (setting.graph.imports ? "imports\n" : "") +
         (setting.graph.grow ? "grow\n" : "\n") + said_in(setting.target);
}

}  // namespace tracectl
