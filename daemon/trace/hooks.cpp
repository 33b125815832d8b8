// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/trace/hooks.h"

namespace tracectl {
namespace {

bool is_id(const Expr& key) {
  return key.kind == Expr::Kind::operand &&
         (key.operand == Operand::pid || key.operand == Operand::tid);
}

// What the programs in the kernel do not do.
std::string missing_part(const Spec& spec) {
  if (spec.when) return "--when";
  if (!spec.values.empty()) return "event(E, ...)";
  if (spec.aggregates.size() > 1) return "more than one aggregate";
  for (const Aggregate& aggregate : spec.aggregates) {
    if (aggregate.kind != Aggregate::Kind::count) return std::string{name_of(aggregate.kind)};
    for (const Expr& key : aggregate.by)
      if (!is_id(key)) return "by " + to_string(key);
  }
  if (spec.sample) return "sample";
  if (spec.limit) return "limit";
  if (spec.tag) return "tag";
  return spec.silent ? "silent" : "";
}

Status check_built(const Spec& spec) {
  const std::string missing = missing_part(spec);
  if (missing.empty()) return ok();
  return Error{Code::unsupported, missing + " is not built yet"};
}

uint32_t flags_of(const Spec& spec) {
  uint32_t flags = spec.event ? TC_EVENT : 0;
  for (const Aggregate& count : spec.aggregates)
    for (const Expr& key : count.by)
      flags |= key.operand == Operand::pid ? TC_COUNT_BY_PID : TC_COUNT_BY_TID;
  return flags;
}

}  // namespace

Result<Hook> Hooks::make(Session& session, const Want& want) {
  if (auto built = check_built(want.setting().spec); !built) return built.error();
  Hook hook;
  hook.session = session.id;
  hook.flags = flags_of(want.setting().spec);
  hook.tgid = want.part->process ? want.part->process->pid() : 0;
  if (want.setting().spec.event)
    if (auto named = name_source(session, want, hook); !named) return named.error();
  auto stat = take_counters();
  if (!stat) return stat.error();
  hook.stat = *stat;
  const auto executable = want.executable();
  if (!executable) return hook;
  auto set = set_targets_.take(executable->first, executable->second);
  if (!set) {
    discard_counters(hook);
    return set.error();
  }
  hook.set_target = *set;
  return hook;
}

Result<Hook> Hooks::with_fresh_counters(const Hook& hook) {
  auto stat = take_counters();
  if (!stat) return stat.error();
  Hook fresh = hook;
  fresh.stat = *stat;
  return fresh;
}

void Hooks::discard(const Hook& hook) {
  discard_counters(hook);
  if (hook.set_target) set_targets_.give_back(hook.set_target);
}

Result<uint32_t> Hooks::take_counters() {
  const auto stat = slots_.stat_ids.take();
  if (!stat)
    return Error{Code::exhausted,
                 "the table of counters is full (" + std::to_string(slots_.stat_ids.limit()) + ")"};
  kernel_.clear_stat(*stat);
  return *stat;
}

Status Hooks::name_source(Session& session, const Want& want, Hook& hook) {
  const Arguments& args = *want.site->args;
  const std::string& probe = want.probe->name;
  auto layout = slots_.layouts.index_of(args);
  if (!layout) return layout.error();
  hook.layout = *layout;
  auto known = session.sources.find({probe, *layout});
  if (known == session.sources.end()) {
    // The reader first: where memory runs out the session knows no source that the reader does not.
    const uint32_t source = ++last_source_;
    reader_.add_source(session.id, source,
                       std::make_shared<const EventSource>(EventSource{probe, session.name, args}));
    known = session.sources.emplace(std::pair{probe, *layout}, source).first;
  }
  hook.source = known->second;
  return ok();
}

}  // namespace tracectl
