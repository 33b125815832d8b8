// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/control/parts.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "daemon/control/row_parts.h"
#include "daemon/model/field_path.h"
#include "daemon/protocol/convert.h"
#include "daemon/protocol/frames.h"

namespace tracectl {
namespace {

using namespace protocol;

SitePart part_of(const Object& object, const Site& site) {
  SitePart part{
      .object = object.path(),
      .build_id = object.facts().build_id,
      .offset = site.offset,
      .moved_bytes = site.moved_bytes,
      .cost = name_of(site.cost),
      .semaphore = site.semaphore ? std::optional<uint64_t>(site.semaphore) : std::nullopt};
  if (!site.returns) return part;
  part.returns = name_of(site.returns->way);
  part.exits = site.returns->exits.size();
  part.slow_exits = slow_exits_of(*site.returns);
  return part;
}

// Of a bit field with its number of bits: "u8:5".
std::string type_of_field(const ReachedField& field) {
  if (field.text) return "text";
  if (!field.why_not.empty() || field.is_address) return field.type.declared_type;
  const std::string bits = field.bit_count ? ":" + std::to_string(field.bit_count) : "";
  return type_name(field.type) + bits;
}

std::vector<FieldPart> parts_of(const ReachedFields& fields) {
  const auto known = [](const std::string& text) {
    return text.empty() ? std::nullopt : std::optional(text);
  };
  std::vector<FieldPart> parts;
  for (const ReachedField& field : fields)
    parts.push_back(
        {field.path, type_of_field(field), known(field.type.declared_type), known(field.why_not)});
  return parts;
}

// Of a line: its variables, each with the fields that it leads to behind it.
void add_variables(const ReachedFields& fields, std::vector<ArgumentPart>& parts) {
  for (const ReachedField& field : fields) {
    FieldPart part = parts_of(ReachedFields{field}).front();
    const auto path = parse_place(field.path);
    if (!path || path->steps.empty())
      parts.push_back({.name = part.path,
                       .type = part.type,
                       .place = field.why_not,
                       .readable = field.why_not.empty(),
                       .kind = kind_name(field.type),
                       .declared_type = part.declared_type,
                       .enumerators = std::nullopt,
                       .members = std::vector<FieldPart>{}});
    else
      parts.back().members->push_back(std::move(part));
  }
}

std::vector<ArgumentPart> parts_of(const Site& site) {
  std::vector<ArgumentPart> parts;
  for (const Argument& argument : *site.args) {
    ArgumentPart& part = parts.emplace_back(protocol::part_of(argument, parts.size()));
    if (argument.asked_fields) part.members = parts_of(*argument.asked_fields);
  }
  if (site.symbols)
    for (const Argument& operand : *site.symbols)
      if (operand.asked_fields) add_variables(*operand.asked_fields, parts);
  return parts;
}

// None if nothing is known of it.
std::optional<ArgumentPart> result_of(const Site& site) {
  if (!site.result || is_bare_register(*site.result) ||
      site.result->place == Argument::Place::nothing)
    return std::nullopt;
  ArgumentPart part = protocol::part_of(*site.result, 0);
  part.name = "retval";
  const std::string before = site.result->declared_type + " ";  // why it cannot be read follows
  if (!part.readable && part.place.starts_with(before)) part.place.erase(0, before.size());
  if (site.result->asked_fields) part.members = parts_of(*site.result->asked_fields);
  return part;
}

ProbePart part_of(const Object& object, const Probe& probe) {
  ProbePart part{.probe = probe.name,
                 .cost = {},
                 .demangled = probe.demangled,
                 .sites = {},
                 .args = parts_of(probe.sites.front()),
                 .result = result_of(probe.sites.front())};
  CostClass dearest = CostClass::fast;
  for (const Site& site : probe.sites) {
    part.sites.push_back(part_of(object, site));
    dearest = std::max(dearest, site.cost);
  }
  part.cost = name_of(dearest);
  return part;
}

size_t least_bytes_of(const ReachedFields& fields) {
  size_t bytes = 0;
  for (const ReachedField& field : fields)
    bytes += field.path.size() + 2 * field.type.declared_type.size() + field.why_not.size();
  return bytes;
}

// The bytes of the probe's texts in the answer, at least.
size_t least_bytes_of(const Object& object, const Probe& probe) {
  size_t bytes = probe.name.size() + (probe.demangled ? probe.demangled->size() : 0);
  bytes += probe.sites.size() * (object.path().size() + object.facts().build_id.size());
  if (const auto& symbols = probe.sites.front().symbols)
    for (const Argument& operand : *symbols)
      if (operand.asked_fields) bytes += least_bytes_of(*operand.asked_fields);
  if (const auto& result = probe.sites.front().result; result && result->asked_fields)
    bytes += least_bytes_of(*result->asked_fields);
  for (const Argument& argument : *probe.sites.front().args) {
    bytes += argument.text.size() + argument.name.size() + argument.declared_type.size();
    if (argument.asked_fields) bytes += least_bytes_of(*argument.asked_fields);
    if (!argument.enumerators) continue;
    for (const Enumerator& one : *argument.enumerators) bytes += one.name.size();
  }
  return bytes;
}

PhasesPart part_of(const Phases& phases) {
  constexpr uint64_t kNsPerUs = 1000;
  return PhasesPart{.stage = phases.stage / kNsPerUs,
                    .arm = phases.arm / kNsPerUs,
                    .wait = phases.wait / kNsPerUs,
                    .switch_ = phases.switch_ / kNsPerUs,
                    .disarm = phases.disarm / kNsPerUs};
}

std::vector<SkewPart> parts_of(const std::vector<FirstHit>& first_hits) {
  std::vector<SkewPart> parts;
  for (const FirstHit& first : first_hits) parts.push_back({first.cpu, first.after_ns});
  return parts;
}

// The text of a condition, as --when takes it.
std::optional<std::string> text_of(const std::optional<Expr>& condition) {
  return condition ? std::optional(to_string(*condition)) : std::nullopt;
}

std::vector<std::string> texts_of(const std::vector<Pattern>& patterns) {
  std::vector<std::string> texts;
  for (const Pattern& pattern : patterns) texts.push_back(to_string(pattern));
  return texts;
}

std::optional<GraphPart> part_of(const GraphScope& scope, const Spec& spec) {
  if (scope == GraphScope{} && !spec.keep_if) return std::nullopt;
  return GraphPart{texts_of(scope.only), scope.skip, texts_of(scope.beside),
                   scope.imports,        scope.grow, text_of(spec.keep_if)};
}

template <class Part> void add_latency(const Setting& setting, Part& part) {
  if (!setting.latency) return;
  part.from = to_string(setting.latency->from);
  part.by = keys_text(setting.latency->by);
  part.slowest = setting.latency->slowest;
}

// Rounded because these are estimates.
double to_hundredths(double percent) { return std::round(100 * percent) / 100; }

}  // namespace

BudgetReply budget_of(const Session& session) {
  std::set<std::string_view> probes;
  for (const auto& [slot, hooks] : session.hooks)
    for (const SessionHook& held : hooks)
      if (!held.setting->spec.learns_tags) probes.insert(*held.probe);
  BudgetReply reply;
  reply.probes = probes.size();
  if (!session.budget) return reply;
  reply.budget = session.budget->percent;
  reply.percent = to_hundredths(session.budget->used);
  reply.left_out = parts_of(session.budget->left_out);
  return reply;
}

std::vector<LeftOutPart> parts_of(const std::vector<LeftOut>& left_out) {
  std::vector<LeftOutPart> parts;
  for (const LeftOut& one : left_out)
    parts.push_back(
        {.probe = one.load.probe,
         .cost = name_of(one.load.cost),
         .hits_per_second = static_cast<uint64_t>(std::llround(one.load.hits_per_second)),
         .percent = to_hundredths(one.load.percent),
         .budget = one.budget,
         .others = one.others});
  return parts;
}

SettingPart part_of(const Setting& setting) {
  SettingPart part{
      to_string(setting.pattern),
      name_of(setting.pattern.scope),
      protocol::part_of(setting.target),
      to_string(setting.spec),
      text_of(setting.spec.when),
      follows_calls(setting) ? std::optional<std::string>(name_of(setting.returns)) : std::nullopt};
  add_latency(setting, part);
  part.graph = part_of(setting.graph, setting.spec);
  if (!setting.types.empty()) part.types = setting.types.all();
  return part;
}

// Several processes can map one file: its probes are listed once.
Result<ProbeListReply> reply_of(const ProbesFound& found) {
  const Resolution& resolution = found.resolution;
  ProbeListReply reply;
  std::set<std::string_view> names;
  size_t bytes = 0;
  for (const Resolved& part : resolution.parts)
    for (const Probe& probe : *part.probes) {
      if (!names.insert(probe.name).second) continue;
      bytes += least_bytes_of(*part.object, probe);
      if (bytes > kMaxAnswerBytes) return longer_than_an_answer();
      reply.probes.push_back(part_of(*part.object, probe));
      reply.total_sites += probe.sites.size();
    }
  std::sort(reply.probes.begin(), reply.probes.end(),
            [](const ProbePart& a, const ProbePart& b) { return a.probe < b.probe; });
  reply.total_probes = reply.probes.size();
  reply.refused = resolution.refused;
  reply.notes = resolution.notes;
  if (found.costs) reply.hit_ns = estimate_hits(resolution, *found.costs).hit_ns;
  return reply;
}

ReadReply reply_of(const ReadResults& results) {
  const ReadSummary& summary = results.summary;
  ReadReply reply{.rows = parts_of(summary.results.rows),
                  .epoch = summary.epoch,
                  .total_hits = summary.results.totals.hits,
                  .total_filtered = summary.results.totals.filtered,
                  .total_silenced = summary.results.totals.silenced,
                  .dropped_ring = summary.results.totals.dropped_ring,
                  .dropped_keys = summary.results.totals.dropped_keys,
                  .cut = summary.results.totals.cut,
                  .phases_us = std::nullopt,
                  .skew_ns = std::nullopt};
  if (!summary.results.latencies.empty()) reply.latencies = parts_of(summary.results.latencies);
  if (!summary.results.paths.empty()) reply.paths = parts_of(summary.results.paths);
  if (summary.figures) {
    reply.phases_us = part_of(summary.figures->phases);
    reply.skew_ns = parts_of(summary.figures->first_hits);
  }
  if (results.left_out) reply.left_out = parts_of(*results.left_out);
  return reply;
}

StageReply part_of(const StageSummary& summary) {
  return StageReply{summary.settings, summary.probes, summary.sites,
                    summary.refused,  summary.notes,  std::nullopt};
}

CommitReply part_of(const CommitSummary& summary) {
  return CommitReply{.epoch = summary.epoch,
                     .probes = summary.probes,
                     .sites = summary.sites,
                     .added = summary.added,
                     .updated = summary.updated,
                     .removed = summary.removed,
                     .kernel_bytes = summary.cost.kernel_bytes,
                     .private_bytes = summary.cost.private_bytes,
                     .slow_sites = summary.hits.slow_sites,
                     .exits = summary.hits.exits,
                     .slow_exits = summary.hits.slow_exits,
                     .hit_ns = summary.hits.hit_ns,
                     .refused = summary.refused,
                     .notes = summary.notes,
                     .lingering = summary.lingering,
                     .phases_us = part_of(summary.figures.phases),
                     .skew_ns = parts_of(summary.figures.first_hits)};
}

SwitchReply part_of(const SwitchSummary& summary) {
  return SwitchReply{.epoch = summary.epoch,
                     .sessions = summary.sessions,
                     .sites = summary.sites,
                     .phases_us = part_of(summary.figures.phases),
                     .skew_ns = parts_of(summary.figures.first_hits)};
}

namespace {

ProbeSetting part_of(const ProbeSettingInfo& info) {
  ProbeSetting part{
      .probe = *info.probe,
      .session = info.session,
      .pattern = to_string(info.setting->pattern),
      .scope = protocol::name_of(info.setting->pattern.scope),
      .action = to_string(info.setting->spec),
      .when = text_of(info.setting->spec.when),
      .target = protocol::part_of(info.setting->target),
      .paused = info.paused,
      .returns =
          info.returns ? std::optional<std::string>(name_of(info.returns->way)) : std::nullopt,
      .returns_because =
          info.returns ? std::optional<std::string>(text_of(info.returns->reason)) : std::nullopt,
      .may_wait = info.may_wait,
      .sites = info.sites,
      .epoch = info.epoch,
      .hits = info.hits,
      .generations = std::nullopt};
  add_latency(*info.setting, part);
  return part;
}

std::vector<GenerationPart> generations_of(const ProbeSettingInfo& info, uint64_t epoch) {
  std::vector<GenerationPart> parts;
  for (uint64_t i = 0; i < info.generations.size(); ++i)
    parts.push_back({i, (epoch & 1) == i, info.generations[i]});
  return parts;
}

}  // namespace

ProbeInfoReply reply_of(const ProbesInfo& info) {
  ProbeInfoReply reply;
  for (const ProbeSettingInfo& one : info.settings) {
    reply.settings.push_back(part_of(one));
    if (info.epoch) reply.settings.back().generations = generations_of(one, *info.epoch);
  }
  return reply;
}

std::vector<protocol::FollowedPart> followed_parts(const std::vector<Followed>& files) {
  std::vector<protocol::FollowedPart> parts;
  for (const Followed& file : files)
    parts.push_back({.object = file.path,
                     .cgroup = file.cgroup,
                     .pid = file.pid,
                     .ts = file.ts_ns,
                     .unobserved_us = file.unobserved_ns / 1000});
  return parts;
}

}  // namespace tracectl
