// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/finding/beside.h"

namespace tracectl {
namespace {

// The setting for what is shown below the calls of a graph's roots: functions like the roots, other
// probes when they fire.
Setting within_graph(const Setting& root, bool calls) {
  Setting within{
      .pattern = root.pattern, .target = root.target, .spec = {}, .returns = root.returns};
  within.spec.graph = calls;
  within.spec.graph_depth = calls ? root.spec.graph_depth : std::nullopt;
  within.spec.event = !calls || root.spec.event;
  if (calls) within.spec.aggregates = root.spec.aggregates;
  within.spec.split = calls && root.spec.split;
  within.spec.syscalls = calls && root.spec.syscalls;
  within.spec.within_graph = true;
  return within;
}

// The setting that counts the targets of calls with unknown targets, in each process.
Setting seeing_callees(const Setting& root) {
  Setting seeing = within_graph(root, false);
  seeing.spec.event = false;
  seeing.spec.sees_callees = true;
  seeing.spec.aggregates = {
      {.by = {Expr::of_operand(Operand::pid), Expr::of_operand(Operand::arg, 0)}}};
  return seeing;
}

// The setting that learns the tags which a user's setting uses.
Setting learning_tags(const Setting& setting) {
  Setting learning;
  learning.pattern.kind = ProbeKind::usdt;
  learning.pattern.object = setting.target.all ? setting.pattern.object : "*";
  learning.pattern.provider = "tracectl";
  learning.pattern.name = "tag";
  learning.target = setting.target;
  learning.spec.learns_tags = true;
  return learning;
}

}  // namespace

Setting beside(const Setting& setting, Beside what) {
  switch (what) {
    case Beside::nothing: return setting;
    case Beside::tags: return learning_tags(setting);
    case Beside::below: return within_graph(setting, true);
    case Beside::within: return within_graph(setting, false);
    case Beside::callees: return seeing_callees(setting);
  }
  return setting;
}

// Code of the file has been called, so it is mapped, and will_map no longer applies.
Setting of_one_file(Setting setting, const Process* process) {
  Target& target = setting.target;
  target.will_map.clear();
  if (process && target.pids.size() > 1) {
    target.pids = {process->pid()};
    target.births = {process->birth()};
  }
  return setting;
}

}  // namespace tracectl
