// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/control/restored_sessions.h"

#include <fcntl.h>
#include <unistd.h>

#include <set>

#include "daemon/base/clock.h"
#include "daemon/control/accounts.h"
#include "daemon/control/log.h"
#include "daemon/control/own_request.h"
#include "daemon/control/stage_request.h"
#include "daemon/protocol/session_file.h"

namespace tracectl {
namespace {

using protocol::SavedSession;
using protocol::SavedSetting;

class RestoredSessions {
 public:
  RestoredSessions(SavedSessions::Left left, Engine& engine, Commands& commands)
      : left_(std::move(left)), engine_(engine), commands_(commands) {}

  // All sessions are made before any gets settings, because these may trigger other sessions.
  void run(const IsToRestore& is_to_restore) {
    std::vector<const SavedSession*> wanted, made;
    for (const SavedSession& session : left_.state.sessions)
      if (is_wanted(session, is_to_restore)) wanted.push_back(&session);
    restore_whole(wanted);
    for (const SavedSession* session : wanted)
      if (make(*session)) made.push_back(session);
    for (const SavedSession* session : made)
      if (!whole_.contains(session->name)) put_in_force(*session);
    for (const SavedSession* session : made) stage_draft(*session);
  }

 private:
  static bool is_wanted(const SavedSession& session, const IsToRestore& is_to_restore) {
    if (session.began && !is_to_restore(session.name, *session.began)) return false;
    if (!session.account || is_account_of(session.user, *session.account)) return true;
    log_warning("session {} is not restored: user {} was {} and no longer is", session.name,
                session.user, *session.account);
    return false;
  }

  // Continues sessions for which the engine still finds everything that was in force.
  void restore_whole(const std::vector<const SavedSession*>& sessions) {
    std::vector<Returning> returning;
    std::vector<const SavedSession*> asked;
    for (const SavedSession* session : sessions) {
      auto settings = settings_in_force(*session);
      if (!settings || settings->empty()) continue;
      returning.push_back({session->name, std::move(*settings), session->budget,
                           peer_of(*session).owner, left_.last_ns});
      asked.push_back(session);
    }
    const auto answers = engine_.restore(std::move(returning));
    for (size_t i = 0; i < answers.size(); ++i) {
      const SavedSession& session = *asked[i];
      if (answers[i])
        report_whole(session);
      else
        log_info("session {} starts over: {}", session.name, answers[i].error().message);
    }
  }

  void report_whole(const SavedSession& session) {
    whole_.insert(session.name);
    log_info("continue session={} uid={} gapns=0 settings={} failed=0", session.name, session.user,
             session.settings.size());
  }

  static Result<std::vector<Setting>> settings_in_force(const SavedSession& session) {
    std::vector<Setting> all;
    for (const SavedSetting& saved : session.settings) {
      auto settings = settings_of(protocol::staging_of(saved.setting, session.name));
      if (!settings) return settings.error();
      for (Setting& setting : *settings) {
        setting.target.births = saved.births;
        all.push_back(std::move(setting));
      }
    }
    return all;
  }

  bool make(const SavedSession& session) {
    Peer peer = peer_of(session);
    const bool is_whole = whole_.contains(session.name);
    const protocol::SessionCreate request{.name = session.name,
                                          .budget = session.budget,
                                          .recorder = session.recorder,
                                          .dump_on = session.dump_on,
                                          .saved = true};
    const Status made =
        is_whole ? commands_.sessions().take_up(request, peer) : create(request, peer);
    if (!made) {
      log_error("session {} is not restored: {}", session.name, made.error().message);
      return false;
    }
    auto& facts = commands_.saved().facts(session.name);
    facts.began = session.began;
    facts.account = session.account;
    for (const protocol::SavedFile& file : session.files)
      if (auto given = give(session, file); !given) report(session, file.path, given.error());
    if (session.paused && !is_whole)
      check(session, "pause", commands_.handle(pause(session), peer));
    return true;
  }

  Status create(const protocol::SessionCreate& request, Peer& peer) {
    auto made = commands_.handle(request, peer);
    return made ? ok() : Status(made.error());
  }

  static Peer peer_of(const SavedSession& session) {
    Peer peer;
    peer.uid = session.user;
    peer.pid = ::getpid();
    peer.owner = session.owner;
    return peer;
  }

  static protocol::SessionPause pause(const SavedSession& session) { return {session.name}; }

  Status give(const SavedSession& session, const protocol::SavedFile& file) {
    const auto found = left_.files.find(file.kept);
    if (found == left_.files.end())
      return Error{Code::not_found, "its descriptor has not been kept"};
    Fd copy{::fcntl(found->second.get(), F_DUPFD_CLOEXEC, 0)};
    if (!copy) return Error::from_errno("keep the file");
    return engine_.give_file(session.name, std::move(copy), file.path, file.debug_of.value_or(""));
  }

  void put_in_force(const SavedSession& session) {
    if (session.settings.empty()) return;
    stage_all(session, session.settings);
    commit(session);
    note_gap(session);
  }

  void stage_all(const SavedSession& session, const std::vector<SavedSetting>& settings) {
    for (const SavedSetting& saved : settings)
      if (auto staged = stage(session, saved); !staged)
        report(session, saved.setting.pattern, staged.error());
  }

  // A process that waited to execute its program when the setting was staged has done so.
  Status stage(const SavedSession& session, const SavedSetting& saved) {
    auto request = protocol::staging_of(saved.setting, session.name);
    request.target.will_map.clear();
    auto settings = settings_of(request);
    if (!settings) return settings.error();
    for (Setting& setting : *settings) setting.target.births = saved.births;
    auto staged = when_read(engine_, [&] { return engine_.drafts().set(session.name, *settings); });
    return staged ? ok() : Status(staged.error());
  }

  // Settings that are refused now are left out.
  void commit(const SavedSession& session) {
    const auto there = engine_.sessions().find(session.name);
    if (!there || !(*there)->draft) return;
    Peer peer = peer_of(session);
    const auto ask = [&](bool partial) {
      const protocol::StageCommit request{.session = session.name, .partial = partial};
      return when_read(engine_, [&] { return commands_.handle(request, peer); });
    };
    auto committed = ask(false);
    if (!committed) committed = ask(true);
    if (!committed) return report(session, "its settings are its draft", committed.error());
    for (const Refusal& refused : committed->refused)
      report(session, refused.probe, Error{Code::invalid, refused.reason});
  }

  void note_gap(const SavedSession& session) {
    const uint64_t now = boot_ns(), since = std::min(left_.last_ns, now);
    auto& facts = commands_.saved().facts(session.name);
    facts.gap = protocol::GapPart{since, now, now - since};
    log_info("continue session={} uid={} gapns={} settings={} failed={}", session.name,
             session.user, now - since, session.settings.size(), facts.not_resumed.size());
  }

  // A draft replaces all settings, so those in force are removed from it first.
  void stage_draft(const SavedSession& session) {
    if (!session.draft) return;
    const auto there = engine_.sessions().find(session.name);
    if (!there || (*there)->draft) return;
    for (const Setting& setting : std::vector<Setting>((*there)->settings))
      check(session, "draft",
            engine_.drafts().remove(session.name, {setting.pattern}, setting.target));
    stage_all(session, *session.draft);
  }

  template <class T>
  void check(const SavedSession& session, const std::string& what, const Result<T>& done) {
    if (!done) report(session, what, done.error());
  }

  void report(const SavedSession& session, const std::string& what, const Error& error) {
    const std::string text = what + ": " + error.message;
    log_warning("session {} is restored without {}", session.name, text);
    commands_.saved().facts(session.name).not_resumed.push_back(text);
  }

  SavedSessions::Left left_;
  std::set<std::string> whole_;  // sessions that go on with everything they had in force
  Engine& engine_;
  Commands& commands_;
};

}  // namespace

void restore_sessions(SavedSessions::Left left, const IsToRestore& is_to_restore, Engine& engine,
                      Commands& commands) {
  RestoredSessions(std::move(left), engine, commands).run(is_to_restore);
}

}  // namespace tracectl
