// SPDX-License-Identifier: BSD-2-Clause
//
// Graphs that grow. A file does not say where a call through a pointer leads, but that is seen while it
// runs: probes at such calls count by the address called (Spec::sees_callees). From time to time a client
// asks for the addresses seen. Then the functions at these addresses become parts of the session's settings
// (GraphScope::grown), as if the file had named them, and a commit like any other puts them, and the
// functions reached from them, in force. The roots' hooks stay as they are, so open calls end as they would
// have.
#include "daemon/sessions/graph_growth.h"

#include <algorithm>
#include <new>
#include <unordered_set>

#include "daemon/sessions/callees.h"

namespace tracectl {
namespace {

using Names = std::set<std::string>;

bool grows(const Session& session) {
  return std::any_of(session.settings.begin(), session.settings.end(),
                     [](const Setting& setting) { return setting.graph.grow; });
}

Names functions_shown(const Session& session) {
  Names names;
  for (const auto& [slot, hooks] : session.hooks)
    for (const SessionHook& held : hooks)
      if (held.setting->spec.graph) names.insert(*held.probe);
  return names;
}

Names functions_shown(const Coverage& coverage) {
  Names names;
  for (const auto& [key, wants] : coverage.wants)
    for (const Want& want : wants)
      if (want.setting().spec.graph) names.insert(want.probe->name);
  return names;
}

// Calls of the C library's functions are shown only if the user asks for them: they are many and short, and
// if a program calls them directly they are not part of its graph either.
bool is_of_c_library(const std::string& path) {
  const auto name = std::string_view(path).substr(path.rfind('/') + 1);
  return name.starts_with("libc.so") || name.starts_with("libc-") || name.starts_with("ld-linux") ||
         name.starts_with("ld-musl");
}

std::vector<Setting> grown_by(std::vector<Setting> settings, const std::vector<Pattern>& callees) {
  for (Setting& setting : settings)
    if (setting.graph.grow)
      setting.graph.grown.insert(setting.graph.grown.end(), callees.begin(), callees.end());
  return settings;
}

// Removes the callees that a commit would not show, and gives the reason unless the user excluded them.
void leave_out_refused(const Coverage& coverage, std::vector<Pattern>& callees,
                       std::vector<Refusal>& refused) {
  const Names shown = functions_shown(coverage);
  std::erase_if(callees, [&](const Pattern& callee) {
    const std::string name = to_string(callee);
    if (shown.contains(name)) return false;
    const auto why = std::find_if(coverage.not_shown.begin(), coverage.not_shown.end(),
                                  [&](const Refusal& one) { return one.probe == name; });
    if (why != coverage.not_shown.end()) refused.push_back(*why);
    return true;
  });
}

void leave_out_c_library(std::vector<Pattern>& callees, std::vector<Refusal>& refused) {
  std::erase_if(callees, [&](const Pattern& callee) {
    if (!is_of_c_library(callee.object)) return false;
    refused.push_back({to_string(callee), std::nullopt, std::nullopt,
                       "it is of the C library, which graphs do not grow into"});
    return true;
  });
}

// Passes over the processes that have ended; the settings stay in force for the others.
bool pass_over_ended(Session& session) {
  bool any = false;
  for (Setting& setting : session.settings) any |= pass_over_ended(setting.target);
  return any;
}

}  // namespace

Result<GrowSummary> GraphGrowth::grow(const std::string& name) {
  auto found = sessions_.find(name);
  if (!found) return found.error();
  Session& session = **found;
  if (session.draft)
    return Error{Code::busy,
                 "session \"" + name + "\" has a draft: commit or abort it before its graphs grow",
                 "session"};
  if (!grows(session))
    return Error{Code::invalid, "session \"" + name + "\" has no graph in force that grows",
                 "session"};
  pass_over_ended(session);
  auto grown = grow_by_what_was_called(session);
  const bool was_left = !grown && grown.error().code == Code::not_found;
  // A process has ended meanwhile. The functions seen are seen again when they are called again.
  if (was_left && pass_over_ended(session)) return grow_by_what_was_called(session);
  return grown;
}

// The addresses taken are kept for the next time if a file is still being read.
Result<GrowSummary> GraphGrowth::grow_by_what_was_called(Session& session) {
  auto called = take_called_addresses(counters_, session);
  if (!called) return called.error();
  for (auto& [pid, addresses] : std::exchange(session.called_unread, {}))
    (*called)[pid].merge(addresses);
  auto grown = grow_by(session, *called);
  if (!grown && resolver_.reading().awaited()) session.called_unread = std::move(*called);
  return grown;
}

Result<GrowSummary> GraphGrowth::grow_by(Session& session, const CalledAddresses& called) {
  CalleeFinder finder(resolver_, slots_, session);
  for (const auto& [pid, addresses] : called) finder.look_at(pid, addresses);
  if (auto read = resolver_.check_all_read(); !read) return read.error();
  GrowSummary summary{
      .epoch = switching_.epoch(), .added = {}, .refused = {}, .unknown = finder.unknown()};
  const Names before = functions_shown(session);
  auto callees = finder.take_functions();
  std::erase_if(callees, [&](const Pattern& callee) { return before.contains(to_string(callee)); });
  leave_out_c_library(callees, summary.refused);
  if (!callees.empty())
    if (auto added = add_callees(session, std::move(callees), summary); !added)
      return added.error();
  session.callees_seen = finder.take_seen();
  std::ranges::set_difference(functions_shown(session), before, std::back_inserter(summary.added));
  return summary;
}

// Adds the callees by a commit, if any can be shown.
Status GraphGrowth::add_callees(Session& session, std::vector<Pattern> callees,
                                GrowSummary& summary) {
  const auto covered = cover({resolver_, session.access}, grown_by(session.settings, callees));
  if (!covered) return covered.error();
  leave_out_refused(*covered, callees, summary.refused);
  if (callees.empty()) return ok();
  auto committed = commits_.commit_settings(session, grown_by(session.settings, callees));
  if (!committed) return committed.error();
  summary.epoch = committed->epoch;
  std::move(committed->refused.begin(), committed->refused.end(),
            std::back_inserter(summary.refused));
  return ok();
}

}  // namespace tracectl
