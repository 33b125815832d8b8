// SPDX-License-Identifier: BSD-2-Clause
//
// Sessions that are switched on and off by hits of others: trigger(SESSION). For a session with a flight
// recorder it asks for a dump instead (session_notices.cpp), and the session has no gate.
//
// A session that a setting in force triggers has a gate, one word that the BPF programs read and write. Its
// hooks are in both generations, whether it is paused or not, and in force while the gate is open. Hits of
// all other paused sessions must cost nothing, so a session gets its gate only with the switch that puts the
// first such setting in force, and loses it with the last.
#include "daemon/sessions/gates.h"

#include <algorithm>
#include <set>
#include <utility>

namespace tracectl {
namespace {

bool triggers(const std::vector<Setting>& settings, const std::string& session) {
  return std::any_of(settings.begin(), settings.end(), [&](const Setting& setting) {
    const auto& all = setting.spec.triggers;
    return std::any_of(all.begin(), all.end(),
                       [&](const Trigger& one) { return one.session == session; });
  });
}

}  // namespace

bool Gates::is_paused(const Session& session) const {
  return session.gated ? !rows_.gate_is_open(session.id) : session.paused;
}

std::vector<std::string> Gates::triggered_by(const Session& session) const {
  std::vector<std::string> by;
  for (const auto& [name, other] : sessions_)
    if (triggers(other.settings, session.name)) by.push_back(name);
  return by;
}

// Refuses sessions that end with their connection: the settings that trigger them would lose their meaning.
Result<std::map<std::string, Triggered>> Gates::triggers_of(
    const Session& session, const std::vector<Setting>& settings) const {
  std::map<std::string, Triggered> named;
  for (const Setting& setting : settings)
    for (const Trigger& trigger : setting.spec.triggers) {
      const auto found = std::as_const(sessions_).find(trigger.session);
      if (!found)
        return Error{Code::not_found,
                     "there is no session \"" + trigger.session +
                         "\" to trigger; tracectl session new " + trigger.session + " makes one",
                     "do"};
      if (session.access.owner && session.access.owner != (*found)->access.owner)
        return Error{Code::denied, "session \"" + trigger.session + "\" is another user's", "do"};
      if (!(*found)->named)
        return Error{Code::invalid,
                     "session \"" + trigger.session +
                         "\" ends with its connection; trigger takes one that was given a name",
                     "do"};
      if ((*found)->is_dumped && !trigger.speaks)
        return Error{Code::invalid,
                     "session \"" + trigger.session + "\" has a flight recorder: trigger(" +
                         trigger.session + ") dumps it, and there is nothing to switch off",
                     "do"};
      named[trigger.session] = {(*found)->id, (*found)->is_dumped};
    }
  return named;
}

Status Gates::note_triggers(std::span<Intent> intents) const {
  for (Intent& intent : intents) {
    auto named = triggers_of(*intent.session, intent.settings);
    if (!named) return named.error();
    intent.session->triggers = std::move(*named);
  }
  return ok();
}

// Whether a setting triggers the session once the intents are in force.
bool Gates::is_triggered(const Session& session, std::span<const Intent> intents) const {
  if (session.is_dumped) return false;
  std::set<const Session*> changing;
  for (const Intent& intent : intents) {
    if (triggers(intent.settings, session.name)) return true;
    changing.insert(intent.session);
  }
  return std::any_of(sessions_.begin(), sessions_.end(), [&](const auto& entry) {
    return !changing.contains(&entry.second) && triggers(entry.second.settings, session.name);
  });
}

void Gates::give_gate(Commit& commit, const Session& session, std::span<const Intent> intents) {
  set_gated(commit, session, is_triggered(session, intents));
}

// No hook reads a new gate yet, so it can be set before the switch.
void Gates::set_gated(Commit& commit, const Session& session, bool gated) {
  if (gated == session.gated) return;
  const bool paused = is_paused(session);
  if (gated) rows_.set_gate(session.id, !paused);
  commit.set_gated(gated, paused);
}

// Plans the gates of the sessions that do not commit themselves.
Status Gates::plan_others(std::span<const Intent> intents, Switch& change) {
  std::set<const Session*> changing;
  for (const Intent& intent : intents) changing.insert(intent.session);
  for (auto& [name, session] : sessions_) {
    const bool gated = is_triggered(session, intents);
    if (changing.contains(&session) || gated == session.gated) continue;
    const bool paused = is_paused(session);
    Commit& commit = change.commit_of(session);
    set_gated(commit, session, gated);
    if (auto planned = commit.plan_pause(paused); !planned) return planned;
  }
  return ok();
}

// ---- pauses ----

Result<std::vector<Session*>> Gates::chosen(const std::optional<std::string>& name,
                                            const std::optional<Owner>& of) {
  std::vector<Session*> sessions;
  if (!name) {
    for (auto& [each, session] : sessions_)
      if (!of || session.access.owner == of) sessions.push_back(&session);
    return sessions;
  }
  auto session = sessions_.find(*name);
  if (!session) return session.error();
  return std::vector<Session*>{*session};
}

Result<SwitchSummary> Gates::set_paused(const std::optional<std::string>& name,
                                        const std::optional<Owner>& of, bool paused) {
  auto sessions = chosen(name, of);
  if (!sessions) return sessions.error();
  std::erase_if(*sessions, [&](const Session* session) { return is_paused(*session) == paused; });
  SwitchSummary summary{
      .epoch = switching_.epoch(), .sessions = sessions->size(), .sites = 0, .figures = {}};
  if (sessions->empty()) return summary;
  Switch change = switches_.begin();
  for (Session* session : *sessions) {
    summary.sites += session->hooks.size();
    if (session->gated) continue;
    if (auto planned = change.commit_of(*session).plan_pause(paused); !planned)
      return planned.error();
  }
  if (auto built = switches_.build(change); !built) return built.error();
  for (const Session* session : *sessions)
    if (session->gated) rows_.set_gate(session->id, !paused);
  summary.epoch = switches_.activate(change);
  summary.figures = change.take_figures();
  return summary;
}

}  // namespace tracectl
