// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/switching/hooks.h"

#include <sys/stat.h>

#include <algorithm>
#include <set>
#include <string>

#include "daemon/process/cgroup_tree.h"
#include "daemon/process/chosen_files.h"
#include "daemon/spec/names.h"

namespace tracectl {
namespace {

const Argument* result_of(const Site& site) {
  return site.returns && site.returns->result ? &*site.returns->result : nullptr;
}

tc_trigger pulled_by(const Trigger& trigger, const Triggered& session) {
  const auto does = session.is_dumped ? TC_ASK_FOR_DUMP
                    : trigger.speaks  ? TC_OPEN_GATE
                                      : TC_CLOSE_GATE;
  return {session.id, static_cast<uint16_t>(does)};
}

// All that the reader of an event must know about its arguments, except their places.
std::string meaning_of(const Arguments& arguments) {
  std::string meaning;
  for (const Argument& a : arguments) {
    meaning += a.name + ' ' + type_name(a) + ' ' + kind_name(a) + ' ' + a.declared_type;
    if (a.is_string) meaning += " text";
    if (a.enumerators)
      for (const Enumerator& one : *a.enumerators)
        meaning += ' ' + one.name + '=' + std::to_string(one.value);
    meaning += '\n';
  }
  return meaning;
}

// A stack is walked by frame pointers only if the setting says so or the file has no unwind table: most
// programs keep no frame pointers, or call code that keeps none.
bool copies_stack(const StackCapture& stack, const Object& object) {
  if (stack.by) return *stack.by == StackBy::unwind_tables;
  return object.facts().has_unwind_table;
}

uint32_t event_flags(const Want& want) {
  const Spec& spec = want.setting().spec;
  uint32_t flags = spec.event ? TC_EVENT : 0;
  if (spec.stack && copies_stack(*spec.stack, *want.part->object)) flags |= TC_COPY_STACK;
  return flags;
}

uint32_t graph_flags(const Spec& spec) {
  return (spec.graph ? TC_IN_GRAPH : 0) | (spec.within_graph ? TC_WITHIN_GRAPH : 0);
}

// Why the calls of goroutines cannot be followed, or null.
const char* why_no_goroutines(const Spec& spec, const Site& site) {
  if (!site.returns || !site.returns->by_goroutine) return nullptr;
  if (graph_flags(spec))
    return "a graph is of a thread's calls, and goroutines change their threads; time and trace "
           "follow the calls of Go functions";
  if (std::any_of(spec.aggregates.begin(), spec.aggregates.end(), is_of_blocks))
    return "block is about threads, and goroutines leave theirs when they wait";
  if (splits_durations(spec))
    return "durations are split by what threads do, and goroutines leave theirs when they wait";
  return nullptr;
}

// Whether an argument is in memory that may be absent. At the stack pointer it is present: the function works on it.
bool any_in_memory(const Arguments& arguments) {
  return std::any_of(arguments.begin(), arguments.end(), [](const Argument& argument) {
    const bool on_stack = argument.base == kStackPointer && argument.index == Register::none;
    return argument.place == Argument::Place::memory && !on_stack;
  });
}

bool reads_memory(const Hook& hook, const Site& site) {
  if (hook.spec && (*hook.spec)->reads_memory) return true;
  return hook.layout && any_in_memory(*site.args);
}

// As above, for a hook that is not made yet.
Result<bool> reads_memory(const Spec& spec, const Arguments& arguments, const PairSide* side) {
  const bool uses = side ? uses_arguments(spec, *side) : uses_arguments(spec);
  if (uses && any_in_memory(arguments)) return true;
  if (!side && !needs_assembly(spec, arguments)) return false;
  auto assembled = assemble(spec, arguments, nullptr, side);
  if (!assembled) return assembled.error();
  return (*assembled)->reads_memory;
}

// The programs that a target's processes may execute later.
std::vector<std::string> to_be_executed(const Target& target) {
  auto paths = target.executables;
  if (!target.will_map.empty()) paths.push_back(target.will_map.front());
  return paths;
}

// The executables whose processes may later map files that the settings choose. Leaves out those that are
// missing at their paths.
std::set<std::pair<dev_t, ino_t>> executables_of(const std::vector<Setting>& settings) {
  std::set<std::pair<dev_t, ino_t>> executables;
  for (const Setting& setting : settings)
    for (const std::string& path : to_be_executed(setting.target)) {
      struct stat status {};
      const auto& object = setting.pattern.object;
      if (object.empty() || names_file(object, path) || ::stat(path.c_str(), &status) != 0)
        continue;
      executables.emplace(status.st_dev, status.st_ino);
    }
  return executables;
}

bool awaits_in_cgroups(const std::vector<Setting>& settings) {
  return std::any_of(settings.begin(), settings.end(), [](const Setting& setting) {
    return setting.target.follows_cgroups() && !setting.pattern.object.empty();
  });
}

// As in tc_hook.
uint8_t with_one_added(const Site& site) {
  return site.words_below_caller ? static_cast<uint8_t>(*site.words_below_caller + 1) : uint8_t{0};
}

bool only_counts(const Hook& hook) {
  return !hook.spec && !hook.pair && !(hook.flags & (TC_EVENT | TC_WITHIN_GRAPH));
}

}  // namespace

// What is not mapped yet is about to be, if the process waits before its execve.
void Hooks::see_maps(const Want& want) {
  const Process& process = *want.part->process;
  if (!want.part->unmapped) return symbolizer_.remember(process);
  if (!want.setting().target.will_map.empty()) symbolizer_.record(process);
}

Result<Hook> Hooks::make(Session& session, const Want& want) {
  Hook hook;
  const Spec& spec = want.setting().spec;
  const bool has_stacks = spec.stack || has_stack_keys(spec);
  if (has_stacks && want.part->process) see_maps(want);
  hook.session = session.id;
  const bool streams = has_events(spec) && want.sides != TC_PAIR_FROM;
  hook.flags = (streams ? event_flags(want) : 0) | graph_flags(spec);
  if (session.access.owner) hook.flags |= TC_OWNED;
  hook.words_below_caller = with_one_added(*want.site);
  hook.tgid = want.part->filter() ? want.part->filter()->pid() : 0;
  auto given = want.sides ? give_side(session, want, hook) : give_spec(session, want, hook);
  if (!given) return given.error();
  if (hook.way == Way::entry && reads_memory(hook, *want.site)) hook.way = Way::sleeping;
  if (for_one_command_ && only_counts(hook)) hook.way = Way::counting;
  if (streams || has_path_keys(spec))
    if (auto named = name_source(session, want, hook); !named) return named.error();
  auto set = set_of(session, want);
  if (!set) return set.error();
  hook.set_target = *set;
  if (want.part->cgroup) hook.flags |= TC_BY_CGROUP;
  if (want.saved) {
    hook.stat = want.saved->stat;
    return hook;
  }
  if (auto taken = take_counters(hook); !taken) {
    if (hook.set_target) set_targets_.give_back(hook.set_target);
    return taken.error();
  }
  return hook;
}

// Returns 0 if there is no set, or if a former daemon's set has ended with its process.
Result<uint16_t> Hooks::set_of(const Session& session, const Want& want) {
  const uint16_t saved = want.saved ? want.saved->set_target : uint16_t{0};
  if (const auto executable = want.executable())
    return set_targets_.take(executable->first, executable->second, saved);
  if (want.part->cgroup) return set_targets_.take(*want.part->cgroup, saved);
  if (want.part->follow == Follow::none || !want.part->process) return uint16_t{0};
  return set_targets_.take_family(session.id, *want.part->process, want.setting().target, saved);
}

Status Hooks::follow_cgroups(Session& session, const std::vector<Setting>& settings) {
  for (const Setting& setting : settings)
    for (const std::string& path : followed_cgroups(setting.target)) {
      if (session.cgroup_sets.contains(path)) continue;
      const bool may_go = may_be_gone(setting.target, path);
      // Users' sets are of what is there.
      if (may_go && session.access.owner && !cgroup_exists(path)) continue;
      auto set = set_targets_.take(path);
      if (!set && may_go && set.error().code == Code::not_found) continue;
      if (!set) return set.error();
      session.cgroup_sets.emplace(path, *set);
      // Also if another session has the set: that one was informed, this one was not.
      kernel_.sets().report_execs();
    }
  return ok();
}

void Hooks::leave_cgroups(Session& session, const std::vector<Setting>& settings) {
  std::set<std::string> wanted;
  for (const Setting& setting : settings)
    for (std::string& path : followed_cgroups(setting.target)) wanted.insert(std::move(path));
  std::erase_if(session.cgroup_sets, [&](const auto& entry) {
    if (wanted.contains(entry.first)) return false;
    kernel_.sets().stop_listening(entry.second - 1u);
    set_targets_.give_back(entry.second);
    return true;
  });
}

Status Hooks::listen_for_joining(Session& session, const std::vector<Setting>& settings) {
  auto& sets = session.awaited.executable_sets;
  for (const auto& [device, inode] : executables_of(settings)) {
    if (sets.contains({device, inode})) continue;
    auto set = set_targets_.take(device, inode);
    if (!set) return set.error();
    sets.emplace(std::pair{device, inode}, *set);
  }
  for (const auto& [executable, set] : sets) kernel_.sets().listen_for_joining(set - 1u);
  if (awaits_in_cgroups(settings))
    for (const auto& [path, set] : session.cgroup_sets) kernel_.sets().listen_for_joining(set - 1u);
  return ok();
}

// A set whose number is reused must not report for the former set.
void Hooks::leave_executables(Session& session, const std::vector<Setting>& settings) {
  const auto wanted = executables_of(settings);
  std::erase_if(session.awaited.executable_sets, [&](const auto& entry) {
    if (wanted.contains(entry.first)) return false;
    kernel_.sets().stop_listening(entry.second - 1u);
    set_targets_.give_back(entry.second);
    return true;
  });
}

Status Hooks::check(const Want& want) {
  if (want.sides) return check_side(want);
  const Spec& spec = want.setting().spec;
  if (const char* why = why_no_goroutines(spec, *want.site))
    return in_probe({Code::unsupported, why}, want);
  if (!needs_assembly(spec, *want.site->args)) return ok();
  if (auto known = check_callers(want); !known) return known;
  auto assembled = assemble(spec, *operands_of(*want.site), result_of(*want.site));
  if (!assembled) return in_probe(assembled.error(), want);
  return ok();
}

// The caller is always known when a call ends; when it begins, only if the site says where it is.
Status Hooks::check_callers(const Want& want) {
  const Spec& spec = want.setting().spec;
  if (want.site->words_below_caller || is_all_at_return(spec)) return ok();
  for (const Aggregate& one : spec.aggregates)
    for (const Expr& key : one.by)
      if (key.kind == Expr::Kind::operand && key.operand == Operand::caller &&
          !waits_for_return(one))
        return in_probe({Code::unsupported,
                         "the caller is known at a function's entry, and this probe is at none; "
                         "by stack(2) walks by frame pointers"},
                        want);
  return ok();
}

Result<bool> Hooks::may_wait(const Setting& setting, const Site& site) {
  if (follows_calls(setting)) return false;
  if (!setting.latency) return reads_memory(setting.spec, *operands_of(site), nullptr);
  const PairSide side{.number = 0, .sides = TC_PAIR_TO, .by = &setting.latency->by};
  return reads_memory(spec_of_sides(setting, TC_PAIR_TO), *operands_of(site), &side);
}

Status Hooks::check_side(const Want& want) {
  const PairSide side{.number = 0, .sides = want.sides, .by = &want.setting().latency->by};
  auto assembled =
      assemble(spec_of_sides(want.setting(), want.sides), *operands_of(*want.site), nullptr, &side);
  if (!assembled) return in_probe(assembled.error(), want);
  return ok();
}

Error Hooks::in_probe(Error error, const Want& want) {
  error.message = want.probe->name + ": " + error.message;
  return error;
}

// The reader gets the tag first, as with sources. Number 0 is no tag.
Result<uint32_t> Hooks::number_of_tag(Session& session, const std::string& tag) {
  if (tag.empty()) return uint32_t{0};
  const auto known = std::find(session.tags.begin(), session.tags.end(), tag);
  const auto number = static_cast<uint32_t>(known - session.tags.begin() + 1);
  if (known != session.tags.end()) return number;
  if (number == TC_MAX_TAGS)
    return Error{Code::exhausted, "a session has " + std::to_string(TC_MAX_TAGS - 1) +
                                      " different tags at most; delete it and make another"};
  session.tags.reserve(number);
  reader_.add_tag(session.id, number, tag);
  kernel_.sessions().write_tag(session.id, number, tag);
  session.tags.push_back(tag);
  return number;
}

Result<SessionNumbers> Hooks::numbers_of(Session& session, const Spec& spec) {
  SessionNumbers numbers{.session = session.id, .tag = 0, .triggers = {}};
  if (spec.tag) {
    auto tag = number_of_tag(session, *spec.tag);
    if (!tag) return tag.error();
    numbers.tag = *tag;
  }
  for (const Trigger& trigger : spec.triggers)
    numbers.triggers.push_back(pulled_by(trigger, session.triggers.at(trigger.session)));
  if ((spec.tag || spec.silent || spec.deepest) && !session.marks) {
    kernel_.sessions().begin_marks(session.id);
    session.marks = true;
  }
  if (spec.learns_tags) kernel_.sessions().show_own_tags(session.id);
  return numbers;
}

Status Hooks::give_spec(Session& session, const Want& want, Hook& hook) {
  const Spec& spec = want.setting().spec;
  if (uses_arguments(spec)) {
    const bool has_own = spec.sees_callees || want.site->symbols;
    auto layout =
        slots_.layouts.of(operands_of(*want.site), has_own ? Layouts::kMostOfOwn : Layouts::kMost);
    if (!layout) return layout.error();
    hook.layout = std::move(*layout);
  }
  if (auto known = check_callers(want); !known) return known;
  auto numbers = numbers_of(session, spec);
  if (!numbers) return numbers.error();
  auto installed =
      specs_.install(want.part->setting, *operands_of(*want.site), result_of(*want.site), *numbers);
  if (!installed) return in_probe(installed.error(), want);
  hook.spec = std::move(*installed);
  if (hook.spec && (*hook.spec)->follows_calls) {
    hook.way = want.site->returns->way;
    hook.flags |= TC_CALL;
    if (want.site->returns->by_goroutine) hook.flags |= TC_BY_GOROUTINE;
    if (want.saved)
      hook.flags |= want.saved->serial << TC_SERIAL_SHIFT;
    else
      renew_serial(hook);
  }
  return ok();
}

Status Hooks::give_side(const Session& session, const Want& want, Hook& hook) {
  hook.pair =
      pairs_.of(session.id, want.part->setting, want.saved ? want.saved->pair : uint32_t{0});
  hook.pair_sides = want.sides;
  hook.flags |= TC_PAIR;
  const PairSide side{
      .number = hook.pair->number(), .sides = want.sides, .by = &want.setting().latency->by};
  if (uses_arguments(spec_of_sides(want.setting(), want.sides), side)) {
    auto layout = slots_.layouts.of(operands_of(*want.site),
                                    want.site->symbols ? Layouts::kMostOfOwn : Layouts::kMost);
    if (!layout) return layout.error();
    hook.layout = std::move(*layout);
  }
  const SessionNumbers numbers{.session = session.id, .tag = 0, .triggers = {}};
  auto installed =
      specs_.install(want.part->setting, *operands_of(*want.site), nullptr, numbers, &side);
  if (!installed) return in_probe(installed.error(), want);
  hook.spec = std::move(*installed);
  hook.pair_slowest = want.setting().latency->slowest;
  return ok();
}

void Hooks::restore(const SavedNumbers& numbers) {
  last_source_ = numbers.last_source;
  last_serial_ = numbers.last_serial;
  pairs_.restore(numbers.last_pair);
  specs_.restore(numbers.specs);
  set_targets_.restore(numbers.set_targets);
}

void Hooks::forget_starts(const Hook& hook) {
  if (hook.pair && hook.pair_sides & TC_PAIR_TO) hook.pair->forget_starts();
}

void Hooks::renew_serial(Hook& hook) {
  if (!(hook.flags & TC_CALL)) return;
  constexpr uint32_t kFlags = (1u << TC_SERIAL_SHIFT) - 1;
  if (++last_serial_ >> (32 - TC_SERIAL_SHIFT)) last_serial_ = 1;
  hook.flags = (hook.flags & kFlags) | last_serial_ << TC_SERIAL_SHIFT;
}

Result<Hook> Hooks::with_fresh_counters(const Hook& hook) {
  Hook fresh = hook;
  if (auto taken = take_counters(fresh); !taken) return taken.error();
  return fresh;
}

void Hooks::discard(const Hook& hook) {
  discard_counters(hook);
  if (hook.set_target) set_targets_.give_back(hook.set_target);
}

void Hooks::discard_counters(const Hook& hook) {
  if (is_rated(hook)) kernel_.counters().remove_rate(hook.stat);
  if (hook.pair) kernel_.counters().remove_pair_stat(hook.stat);
  slots_.stat_ids.give_back(hook.stat);
}

bool Hooks::is_rated(const Hook& hook) { return hook.spec && (*hook.spec)->is_rated; }

Status Hooks::take_counters(Hook& hook) {
  const auto stat = slots_.stat_ids.take();
  if (!stat)
    return Error{Code::exhausted,
                 "the table of counters is full (" + std::to_string(slots_.stat_ids.limit()) + ")"};
  if (auto added = add_tables(hook, *stat); !added) {
    slots_.stat_ids.give_back(*stat);
    return added;
  }
  hook.stat = *stat;
  return ok();
}

// Adds the tables that the hook needs besides its counters.
Status Hooks::add_tables(const Hook& hook, uint32_t stat) {
  if (is_rated(hook))
    if (auto added = kernel_.counters().add_rate(stat); !added) return added;
  if (!hook.pair) return ok();
  auto added = kernel_.counters().add_pair_stat(stat, hook.pair_slowest);
  if (!added && is_rated(hook)) kernel_.counters().remove_rate(stat);
  return added;
}

Status Hooks::name_source(Session& session, const Want& want, Hook& hook) {
  const bool own_values = hook.spec && !(*hook.spec)->values.empty();
  const Arguments& args = own_values ? (*hook.spec)->values : *want.site->args;
  const unsigned frames = want.setting().spec.stack ? want.setting().spec.stack->most_frames : 0;
  const std::string values =
      (own_values ? to_string(want.setting().spec) : "") + " " + std::to_string(frames);
  const Argument* result = result_of(*want.site);
  const std::string of_result = result ? "-> " + meaning_of({*result}) : "";
  SourceKey key{want.probe->name, hook.layout ? Layouts::text_of(*want.site->args) : "",
                meaning_of(args) + of_result + values};
  auto known = session.sources.find(key);
  if (known == session.sources.end()) {
    // The reader gets it first: if memory runs out, the session must not know a source that the reader lacks.
    const uint32_t source = want.saved ? want.saved->source : ++last_source_;
    reader_.add_source(session.id, source,
                       std::make_shared<const EventSource>(
                           EventSource{want.probe->name, session.name, args,
                                       result ? std::optional(*result) : std::nullopt, frames}));
    known = session.sources.emplace(std::move(key), source).first;
  }
  hook.source = known->second;
  return ok();
}

}  // namespace tracectl
