// SPDX-License-Identifier: BSD-2-Clause
#include "client/render/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "client/options/size.h"
#include "client/render/args.h"
#include "client/render/call_names.h"
#include "client/render/hit_estimate.h"
#include "client/render/probe_names.h"
#include "client/render/recorder.h"
#include "client/render/table.h"
#include "client/render/target_text.h"
#include "daemon/model/cost.h"
#include "daemon/model/expr.h"

namespace tracectl {
namespace {

using namespace protocol;
using Align = Table::Align;

constexpr const char* kAlways = "-";  // no condition

double seconds_since(uint64_t ts_ns, uint64_t start_ns) {
  return static_cast<double>(static_cast<int64_t>(ts_ns - start_ns)) / 1e9;
}

template <class Part> std::string latency_text(const Part& setting) {
  if (!setting.from) return {};
  return " from " + *setting.from + " by " + setting.by.value_or("");
}

void add_settings(std::string& out, const char* title, const std::vector<SettingPart>& settings) {
  if (settings.empty()) return;
  Table table({{title}, {"TARGET"}, {"WHEN"}, {"DO"}});
  for (const SettingPart& setting : settings)
    table.add({setting.pattern + (setting.scope == "local" ? "" : " (" + setting.scope + ")"),
               target_text(setting.target), setting.when.value_or(kAlways),
               setting.action + latency_text(setting)});
  out += "\n" + table.text();
}

std::string generation_text(const GenerationPart& part) {
  return plural(part.sites, "site") + (part.active ? ", active" : "");
}

}  // namespace

std::string plural(uint64_t count, const char* noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

std::string more_rows_text(size_t more, size_t shown) {
  return plural(more, "more row") + (shown == kRowsForPrograms ? "; -n all prints them" : "") +
         "\n";
}

std::string figures_text(const PhasesPart& phases, const std::vector<SkewPart>& skew) {
  std::string text =
      fmt::format("microseconds: stage {}, arm {}, switch {}, wait {}, disarm {}\n", phases.stage,
                  phases.arm, phases.switch_, phases.wait, phases.disarm);
  std::vector<std::string> first_hits;
  for (const SkewPart& one : skew)
    first_hits.push_back(fmt::format("CPU {} after {} ns", one.cpu, one.ns));
  if (!skew.empty()) text += fmt::format("first hit since: {}\n", fmt::join(first_hits, ", "));
  return text;
}

std::string duration_text(uint64_t ns) {
  constexpr const char* kUnits[] = {"ns", "us", "ms", "s"};
  double value = static_cast<double>(ns);
  size_t unit = 0;
  while (value >= 1000 && unit + 1 < std::size(kUnits)) {
    value /= 1000;
    ++unit;
  }
  const int digits = unit == 0 || value >= 100 ? 0 : value >= 10 ? 1 : 2;
  return fmt::format("{:.{}f} {}", value, digits, kUnits[unit]);
}

// ---- errors ----

std::string error_text(const Error& error) {
  std::string text = "tracectl: " + error.message + "\n";
  if (!error.spot) return text;
  std::string shown = error.spot->text;
  for (char& c : shown)
    if (static_cast<unsigned char>(c) < ' ') c = '?';
  return text + "  " + shown + "\n  " + std::string(error.spot->column, ' ') + "^\n";
}

ExitStatus exit_status_of(const Error& error) {
  if (error.code == Code::denied) return kDenied;
  if (error.code == Code::not_found && error.field == "patterns") return kNoMatch;
  if (error.code == Code::not_found && error.field == "target") return kNotThere;
  if (error.code == Code::unsupported && error.field == "patterns") return kRefused;
  if (error.code == Code::exhausted && error.field == "most_added") return kRefused;
  const bool is_of_the_request = error.code == Code::invalid && !error.field.empty();
  return error.spot || is_of_the_request ? kUsage : kFailed;
}

// ---- replies ----

namespace {

// Of a long list the first few names.
std::string probes_of(const std::vector<const Refusal*>& refused) {
  constexpr size_t kNamed = 3;
  std::string text = refused.size() > kNamed ? plural(refused.size(), "probe") + ": " : "";
  for (size_t i = 0; i < std::min(kNamed, refused.size()); ++i) {
    const Refusal& one = *refused[i];
    text += (i == 0 ? "" : ", ") + readable_name(one.probe) +
            (one.pid ? fmt::format(" in process {}", *one.pid) : "");
  }
  return text + (refused.size() > kNamed ? ", ..." : "");
}

}  // namespace

std::string refusals_text(const std::vector<Refusal>& refused) {
  std::vector<std::string> reasons;  // as they first come
  std::map<std::string, std::vector<const Refusal*>> by_reason;
  for (const Refusal& one : refused) {
    auto& same = by_reason[one.reason];
    if (same.empty()) reasons.push_back(one.reason);
    same.push_back(&one);
  }
  std::string text;
  for (const std::string& reason : reasons)
    text += "not armed: " + probes_of(by_reason[reason]) + ": " + reason + "\n";
  return text;
}

std::string notes_text(const std::vector<std::string>& notes) {
  std::string text;
  for (const std::string& note : notes) text += "tracectl: note: " + note + "\n";
  return text;
}

namespace {

// 812,345
std::string grouped(uint64_t number) {
  std::string digits = std::to_string(number);
  for (size_t i = digits.size(); i > 3; i -= 3) digits.insert(i - 3, ",");
  return digits;
}

// Rounded, because these are estimates: two significant figures below 10 %, whole numbers above.
std::string percent_text(double percent) {
  return percent < 10 ? fmt::format("{:.2g} %", percent) : fmt::format("{:.0f} %", percent);
}

std::string file_of(const FollowedPart& followed) {
  return followed.object + (followed.cgroup.empty() ? "" : " in " + followed.cgroup);
}

std::string followed_text(const FollowedPart& followed) {
  const std::string file = file_of(followed);
  if (followed.pid == 0) return file + ", before its first instruction";
  return fmt::format("{}, {:.3f} s after process {} began it", file,
                     static_cast<double>(followed.unobserved_us) / 1e6, followed.pid);
}

}  // namespace

std::string unseen_text(const FollowedPart& followed) {
  return fmt::format(
      "not seen: what process {} did in {} for up to {:.1f} ms, before it was armed there",
      followed.pid, file_of(followed), static_cast<double>(followed.unobserved_us) / 1e3);
}

std::string left_out_text(const LeftOutPart& left_out) {
  std::string text = fmt::format("{}: {} hits a second cost {} of a CPU, the budget is {:g} %",
                                 readable_name(left_out.probe), grouped(left_out.hits_per_second),
                                 percent_text(left_out.percent), left_out.budget);
  if (left_out.cost == name_of(CostClass::slow)) text += " (its site is slow)";
  if (left_out.others)
    text += "; " + plural(left_out.others, "other probe") +
            (left_out.others == 1 ? " depends on it and is" : " depend on it and are") +
            " left out too";
  return text;
}

std::string sessions_text(const SessionListReply& reply) {
  Table table({{"SESSION"},
               {"SETTINGS", Align::right},
               {"DRAFT"},
               {"SAVED"},
               {"PAUSED"},
               {"PROBES", Align::right},
               {"SITES", Align::right},
               {"HITS", Align::right},
               {"EPOCH", Align::right},
               {"RECORDER"}});
  for (const SessionPart& s : reply.sessions)
    table.add({s.name, std::to_string(s.settings.size()), s.draft ? "yes" : "no",
               s.saved ? "yes" : "no", s.paused ? "yes" : "no", std::to_string(s.probes),
               std::to_string(s.sites), std::to_string(s.hits), std::to_string(s.epoch),
               s.recorder ? recorder_bound_text(s.recorder->bound) : "no"});
  return table.text();
}

std::string unproven_text(const UnprovenPart& unproven) {
  if (unproven.processes == 0) return "";
  return "left out: " + plural(unproven.hits, "hit") + " of " + std::to_string(unproven.processes) +
         (unproven.processes == 1 ? " process" : " processes") +
         ", which had not yet been proven traceable by you\n";
}

std::string session_text(const SessionPart& session) {
  std::string left_out;
  if (session.filtered) left_out += fmt::format(", {} filtered out", session.filtered);
  if (session.silenced) left_out += fmt::format(", {} of silent threads", session.silenced);
  std::string out = fmt::format("session {}: {} and {} armed, {}{}{}, {} events lost, epoch {}\n",
                                session.name, plural(session.probes, "probe"),
                                plural(session.sites, "site"), session.paused ? "paused, " : "",
                                plural(session.hits, "hit"), left_out, session.lost, session.epoch);
  if (!session.triggered_by.empty())
    out += "triggered by " + fmt::format("{}", fmt::join(session.triggered_by, ", ")) + "\n";
  if (session.unproven) out += unproven_text(*session.unproven);
  if (session.marks_lost)
    out += plural(session.marks_lost, "thread") + " could not be marked for want of memory\n";
  if (session.budget) out += fmt::format("its hits may cost {:g} % of a CPU\n", *session.budget);
  if (session.recorder) out += recorder_text(*session.recorder);
  if (session.saved) out += "saved: it goes on with the next daemon\n";
  if (session.gap)
    out += fmt::format(
        "continued by this daemon after a gap of at most {:.3f} s; counts begin after it\n",
        static_cast<double>(session.gap->ns) / 1e9);
  for (const std::string& one : session.not_resumed) out += "not resumed: " + one + "\n";
  for (const LeftOutPart& one : session.left_out.value_or(std::vector<LeftOutPart>{}))
    out += "left out: " + left_out_text(one) + "\n";
  for (const FollowedPart& one : session.followed)
    out += "armed later: " + followed_text(one) + "\n";
  add_settings(out, "IN FORCE", session.settings);
  if (session.draft) {
    add_settings(out, "DRAFT", *session.draft);
    if (session.draft->empty()) out += "\nthe draft is empty: a commit removes everything\n";
  }
  return out;
}

std::string info_text(const ProbeInfoReply& reply) {
  if (reply.settings.empty()) return "nothing is set on these probes\n";
  const bool generations = reply.settings.front().generations.has_value();
  std::vector<Table::Column> columns{{"PROBE", Align::left, true},
                                     {"SESSION"},
                                     {"DO"},
                                     {"WHEN"},
                                     {"TARGET"},
                                     {"SITES", Align::right},
                                     {"HITS", Align::right},
                                     {"EPOCH", Align::right},
                                     {"PAUSED"}};
  if (generations) columns.insert(columns.end(), {{"GENERATION 0"}, {"GENERATION 1"}});
  columns.push_back({"PATTERN"});
  const bool returns = std::any_of(reply.settings.begin(), reply.settings.end(),
                                   [](const ProbeSetting& s) { return s.returns.has_value(); });
  if (returns) columns.push_back({"RETURNS"});
  const bool waits = std::any_of(reply.settings.begin(), reply.settings.end(),
                                 [](const ProbeSetting& s) { return s.may_wait; });
  if (waits) columns.push_back({"MAY WAIT"});
  Table table(std::move(columns));
  const TableNames names = names_of_all(reply.settings);
  for (const ProbeSetting& s : reply.settings) {
    std::vector<std::string> cells{names.of(s.probe),          s.session,
                                   s.action + latency_text(s), s.when.value_or(kAlways),
                                   target_text(s.target),      std::to_string(s.sites),
                                   std::to_string(s.hits),     std::to_string(s.epoch),
                                   s.paused ? "yes" : "no"};
    if (s.generations)
      for (const GenerationPart& one : *s.generations) cells.push_back(generation_text(one));
    cells.push_back(s.pattern);
    if (returns)
      cells.push_back(s.returns ? *s.returns + ": " + s.returns_because.value_or("") : kAlways);
    if (waits) cells.push_back(s.may_wait ? "for memory" : "no");
    table.add(std::move(cells));
  }
  return table.text();
}

namespace {

std::string estimate_text(const CommitReply& reply) {
  return fmt::format(
      "by estimate {} of kernel memory, and {} of code private to each process that maps it\n",
      size_text(reply.kernel_bytes), size_text(reply.private_bytes));
}

}  // namespace

std::string commit_text(const CommitReply& reply, bool timings) {
  // Only the reply to a dry run has no epoch.
  const std::string begin =
      reply.epoch ? fmt::format("epoch {}: ", reply.epoch) : "nothing was done; there would be ";
  std::string text = fmt::format("{}{} and {} armed ({} added, {} updated, {} removed)\n", begin,
                                 plural(reply.probes, "probe"), plural(reply.sites, "site"),
                                 reply.added, reply.updated, reply.removed);
  if (reply.epoch && reply.probes == 0 && reply.removed == 0 && reply.updated == 0 &&
      reply.refused.empty() && reply.notes.empty())
    text += "nothing was staged: tracectl stage SESSION set PATTERN... does that\n";
  if (reply.lingering)
    text += plural(reply.lingering, "site") + " linger: armed for a while, switched off\n";
  if (reply.epoch && timings) text += figures_text(reply.phases_us, reply.skew_ns);
  if (!reply.epoch && reply.added) text += estimate_text(reply);
  if (const std::string hits = hit_estimate_text(reply); !reply.epoch && !hits.empty())
    text += hits + "\n";
  for (const std::string& note : reply.notes) text += "note: " + note + "\n";
  return text + refusals_text(reply.refused);
}

std::string switch_text(const SwitchReply& reply, bool timings) {
  if (reply.sessions == 0) return "nothing to do: it is so already\n";
  const std::string text =
      fmt::format("epoch {}: {}, {}\n", reply.epoch, plural(reply.sessions, "session"),
                  plural(reply.sites, "site"));
  return timings ? text + figures_text(reply.phases_us, reply.skew_ns) : text;
}

std::string status_text(const StatusReply& reply) {
  const std::string lingering =
      reply.lingering ? fmt::format(" ({} lingering)", reply.lingering) : "";
  return fmt::format(
      "tracectld {} (process {}) on Linux {}, up {} s\n{}, {}{}, {}, {}; epoch {}\n"
      "{} of {} MiB of memory\n",
      reply.version, reply.pid, reply.kernel, reply.uptime_s, plural(reply.sessions, "session"),
      plural(reply.sites, "armed site"), lingering, plural(reply.links, "link"),
      plural(reply.clients, "client"), reply.epoch, reply.memory_bytes >> 20,
      reply.memory_limit_bytes >> 20);
}

std::string stats_text(const StatsReply& reply) {
  Table table({{"WHAT"}, {"COUNT", Align::right}});
  const auto add = [&](const char* what, uint64_t count) {
    table.add({what, std::to_string(count)});
  };
  add("commits", reply.commits);
  add("failed commits", reply.failed_commits);
  add("switches", reply.switches);
  add("requests", reply.requests);
  add("refused requests", reply.refused_requests);
  add("events read", reply.events_read);
  add("bytes read from rings", reply.ring_bytes_read);
  add("events lost: ring full", reply.ring_drops);
  add("events lost: slow client", reply.client_drops);
  add("dumps not asked for", reply.dumps);
  add("dumps that failed", reply.failed_dumps);
  add("slots in use", reply.slots_used);
  add("slots at most", reply.slots_limit);
  add("hooks in use", reply.hooks_used);
  add("hooks at most", reply.hooks_limit);
  add("keys of counts at most", reply.keys_limit);
  add("rings open", reply.rings_open);
  add("bytes of each ring", reply.ring_bytes_each);
  return table.text();
}

std::string doctor_text(const DoctorReply& reply) {
  std::string text = "Linux " + reply.kernel + "\n";
  for (const CheckPart& check : reply.checks)
    text += fmt::format("\n{}: {}\n  found: {}\n  means: {}\n", check.name, check.result,
                        check.found, check.means);
  return text;
}

// ---- events ----

const char* reason_text(StackEnd end) {
  switch (end) {
    case StackEnd::outermost: return "";
    case StackEnd::limit: return "more frames than were asked for";
    case StackEnd::unreadable: return "broken off: memory could not be read";
    case StackEnd::bad_frame_pointer: return "broken off: no frame pointer leads on";
    case StackEnd::end_of_copy: return "broken off: the stack is longer than what was copied of it";
    case StackEnd::no_table: return "broken off: no table says how to unwind this";
    case StackEnd::unknown_process: return "the program had ended before its files were known";
  }
  return "";
}

namespace {

// How the call ended.
std::string end_text(const Event& event) {
  if (event.kind == EventKind::hit) return {};
  std::string took = event.duration_ns ? " after " + duration_text(*event.duration_ns) : "";
  if (event.off_cpu)
    took += fmt::format(" (blocked {}, runnable {})", duration_text(event.off_cpu->blocked_ns),
                        duration_text(event.off_cpu->runnable_ns));
  if (event.kind == EventKind::unwound) return " unwound" + took;
  if (event.kind == EventKind::latency) return took;
  const std::string ending = ending_text(event);
  return (ending.empty() ? " returned" : ending) + took;
}

}  // namespace

std::string stack_text(const Stack& stack) {
  std::string text;
  for (const Frame& frame : stack.frames) text += "        " + to_string(frame) + "\n";
  if (stack.end != StackEnd::outermost)
    text += fmt::format("        -- {} --\n", reason_text(stack.end));
  return text;
}

std::string event_text(const Event& event, const std::string& probe_name, uint64_t start_ns) {
  const std::string tag = event.tag.empty() ? "" : " tag=" + quoted_text(event.tag);
  // A program chooses its name, and a recording all texts: none of them may control the terminal.
  const std::string line =
      printable(fmt::format("{:14.9f} {:>3} {:>7} {:>7} {:<15} {}({}){}{}",
                            seconds_since(event.ts_ns, start_ns), event.cpu, event.pid, event.tid,
                            event.comm, probe_name, arguments_text(event), end_text(event), tag));
  return line + "\n" + (event.stack ? stack_text(*event.stack) : "");
}

static const char* reason_text(LossCause cause) {
  switch (cause) {
    case LossCause::ring_full: return "the ring was full";
    case LossCause::slow_client: return "this client read too slowly";
    case LossCause::slow_disk: return "the file was not written fast enough, or could not be";
    case LossCause::held_full: return "a call kept more records than fit until its end";
    case LossCause::unknown_end: return kUnknownEnd;
  }
  return "";
}

std::string lost_text(const Lost& lost, uint64_t start_ns) {
  if (lost.cause == LossCause::unknown_end)
    return fmt::format("{:14.9f} -- {} --\n", seconds_since(lost.ts_ns, start_ns), kUnknownEnd);
  const std::string where = lost.cpu ? fmt::format(" on CPU {}", *lost.cpu) : "";
  return fmt::format("{:14.9f} -- {} lost{}: {} --\n", seconds_since(lost.ts_ns, start_ns),
                     plural(lost.count, "event"), where, reason_text(lost.cause));
}

std::string lost_sum_text(uint64_t lost, bool is_end_known) {
  return fmt::format("{} lost{}", lost, is_end_known ? "" : " before its end, which is unknown");
}

}  // namespace tracectl
