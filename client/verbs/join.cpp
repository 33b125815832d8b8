// SPDX-License-Identifier: BSD-2-Clause
//
// join: brings containers that are created later into the sessions that have chosen them by name.
//
// The daemon cannot read the names of containers, and executes nothing to learn them. So it keeps the names that a
// setting has chosen, and this client, which root runs, looks up their cgroups and has the daemon put them into the setting (stage.join).
// That gives a session no rights: the daemon decides, as at any staging, what the session's user may trace. This client
// serves only sessions that may trace every process, and those of the user who runs it: to the former it gives no files
// and no proofs, and to the latter what the user may open.
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <iterator>
#include <map>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "client/connection/ask.h"
#include "client/connection/proofs.h"
#include "client/connection/rejoin.h"
#include "client/options/duration.h"
#include "client/output/output.h"
#include "client/render/call_names.h"
#include "client/target/containers.h"
#include "client/target/target.h"
#include "client/target/target_files.h"
#include "client/verbs/all.h"
#include "daemon/protocol/codec.h"
#include "daemon/protocol/joined.h"
#include "daemon/protocol/session_file.h"

namespace tracectl {
namespace {

using namespace protocol;

constexpr int kLookEveryMs = 1000;

bool is_of_this_user(const SessionPart& session) {
  return session.user && *session.user == ::geteuid();
}

// Root may open more than a session of root's without CAP_SYS_PTRACE.
bool may_serve(const SessionPart& session) {
  return session.named && (!session.user || (is_of_this_user(session) && ::geteuid() != 0));
}

using Names = std::pair<std::vector<std::string>, std::vector<std::string>>;

Names names_of(const ContainersPart& containers) { return {containers.names, containers.pods}; }

bool names_containers(const SessionPart& session) {
  return std::ranges::any_of(session.settings, [](const SettingPart& setting) {
    return setting.target.containers.has_value();
  });
}

class SessionJoining {
 public:
  // All are borrowed.
  SessionJoining(const CommonOptions& common, Backend& backend)
      : common_(common), backend_(backend) {}

  // Fails if the daemon is gone. What fails for one session is said once, and tried again: a new container may
  // not have executed its program yet.
  Status look();

 private:
  struct Change {
    std::vector<SettingPart> settings;  // that chose these names
    ContainersPart containers;
    std::vector<std::string> come;  // cgroups
  };

  void look_at(const SessionPart& session);
  void prove_what_came(const SessionPart& session);
  std::vector<Change> changes_of(const SessionPart& session);
  Change change_of(const ContainersPart& containers);
  const std::set<std::string>& running_of(const ContainersPart& containers);
  Result<CommitReply> join(const SessionPart& session, const Change& change);
  void say_joined(const JoinedPart& joined);
  void say_failed(const SessionPart& session, const Error& error);
  void say_once(const std::string& text);

  const CommonOptions& common_;
  Backend& backend_;
  std::map<Names, std::set<std::string>> running_;  // in this look: cgroups, by containers and pods
  std::set<std::string> said_;                      // failures
};

Status SessionJoining::look() {
  const auto all = backend_.call(SessionList{});
  if (!all && backend_.is_closed()) return all.error();
  if (!all) return say_once(all.error().message), ok();
  running_.clear();
  for (const SessionPart& session : all->sessions)
    if (may_serve(session)) look_at(session);
  return ok();
}

void SessionJoining::look_at(const SessionPart& session) {
  const auto changes = changes_of(session);
  if (changes.empty()) return prove_what_came(session);
  for (const Change& change : changes) {
    const auto joined = join(session, change);
    if (!joined) {
      say_failed(session, joined.error());
      continue;
    }
    say_joined({session.name, change.come, joined->refused});
  }
}

// An exec ends a proof, and a container executes its program after it joined.
void SessionJoining::prove_what_came(const SessionPart& session) {
  if (!is_of_this_user(session) || !names_containers(session)) return;
  if (auto proven = Proofs(backend_, session.name).prove_all({}); !proven)
    say_failed(session, proven.error());
}

const std::set<std::string>& SessionJoining::running_of(const ContainersPart& containers) {
  const auto [found, is_new] = running_.try_emplace(names_of(containers));
  if (is_new) found->second = cgroups_of_running(containers.names, containers.pods);
  return found->second;
}

// A container that has ended stays until another comes: it may be started again.
std::vector<SessionJoining::Change> SessionJoining::changes_of(const SessionPart& session) {
  std::vector<Change> changes;
  for (const SettingPart& setting : session.settings) {
    const auto& containers = setting.target.containers;
    if (!containers) continue;
    const auto known = std::ranges::find_if(changes, [&](const Change& one) {
      return names_of(one.containers) == names_of(*containers);
    });
    if (known != changes.end()) {
      known->settings.push_back(setting);
      continue;
    }
    Change change = change_of(*containers);
    if (change.come.empty()) continue;
    change.settings.push_back(setting);
    changes.push_back(std::move(change));
  }
  return changes;
}

SessionJoining::Change SessionJoining::change_of(const ContainersPart& containers) {
  const std::set<std::string>& running = running_of(containers);
  Change change{{}, containers, {}};
  const std::set<std::string> known(containers.cgroups.begin(), containers.cgroups.end());
  std::ranges::set_difference(running, known, std::back_inserter(change.come));
  change.containers.cgroups.assign(running.begin(), running.end());
  return change;
}

Result<CommitReply> SessionJoining::join(const SessionPart& session, const Change& change) {
  StageJoin request{.session = session.name, .containers = change.containers};
  if (!is_of_this_user(session)) return backend_.call(request);
  StageSet staging = staging_of(change.settings.front(), session.name);
  for (const SettingPart& other : std::span(change.settings).subspan(1))
    staging.patterns.push_back(other.pattern);
  staging.target.containers = change.containers;
  staging.target = with_cgroups_only(staging.target);
  const auto proven = Proofs(backend_, session.name).prove(processes_of(staging.target));
  if (!proven) return proven.error();
  const auto opened = open_files(staging);
  request.files = opened.paths;
  return backend_.call_with(request, opened.descriptors());
}

void SessionJoining::say_joined(const JoinedPart& joined) {
  if (common_.json) {
    print(text_of(to_json(joined)) + "\n");
    std::fflush(stdout);
    return;
  }
  if (!common_.quiet)
    for (const std::string& cgroup : joined.cgroups)
      print_error(
          printable("tracectl: session " + joined.session + ": traced from now on: " + cgroup) +
          "\n");
  for (const Refusal& refusal : joined.refused)
    say_once("session " + joined.session + ": not armed: " + refusal.probe + ": " + refusal.reason);
}

void SessionJoining::say_failed(const SessionPart& session, const Error& error) {
  say_once("session " + session.name + ": not traced yet: " + error.message);
}

void SessionJoining::say_once(const std::string& text) {
  constexpr size_t kMostKept = 1000;
  if (said_.size() == kMostKept) said_.clear();
  if (said_.insert(text).second) print_error("tracectl: " + printable(text) + "\n");
}

class JoinSessions final : public Verb {
 public:
  void add_options(Grammar& grammar) override {
    grammar.option("--reconnect", reconnect_, "how long to try to go on after the daemon has ended")
        .check(check_duration)
        .shows_default();
  }
  int run(const CommonOptions& common) override {
    auto waiter = Waiter::open();
    if (!waiter) return fail(waiter.error());
    return with_backend(common, Backend::Needs::daemon, [&](Backend& backend) -> int {
      const auto ended = follow(common, *waiter, backend);
      return ended ? kInterrupted : fail(ended.error());
    });
  }

 private:
  Result<Ended> follow(const CommonOptions& common, Waiter& waiter, Backend& backend) const {
    SessionJoining joining(common, backend);
    const auto look = [&]() -> Result<bool> {
      if (auto looked = joining.look(); !looked) return looked.error();
      return true;
    };
    const double patience_s = *parse_duration(reconnect_);
    const SessionList request;
    for (;;) {
      auto ended = waiter.run(-1, look, kLookEveryMs);
      if (ended || !backend.is_closed() || patience_s == 0) return ended;
      auto stopped = Rejoin(common.socket, request, waiter, patience_s).run(backend);
      if (!stopped) return stopped.error();
      if (*stopped) return **stopped;
    }
  }

  std::string reconnect_ = "10s";
};

}  // namespace

void add_join(Grammar grammar) {
  grammar.verb<JoinSessions>(
      "join", "bring containers created later into sessions that name them, until ^C");
}

}  // namespace tracectl
