// SPDX-License-Identifier: BSD-2-Clause
//
// The notices that the BPF programs send besides events: a hit asks for a dump, a process has ended.
#include "daemon/sessions/session_notices.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "daemon/process/credentials.h"

namespace tracectl {
namespace {

constexpr uint32_t kSignal = 0x7f, kHasCore = 0x80;  // of an exit code, as in wait(2)

bool is_control(char byte) { return static_cast<unsigned char>(byte) < ' ' || byte == '\x7f'; }

// A program can give itself any name. This name is logged, and a line end in it would begin a new line.
std::string name_in(const tc_notice& notice) {
  std::string name{notice.comm, ::strnlen(notice.comm, sizeof(notice.comm))};
  std::replace_if(name.begin(), name.end(), is_control, '?');
  return name;
}

// Of an exit code as in wait(2).
int status_in(uint32_t exit_code) { return static_cast<int>(exit_code >> 8 & 0xff); }

ProcessEnd end_of(const tc_notice& notice) {
  return {.ts_ns = notice.ts_ns,
          .pid = static_cast<pid_t>(notice.pid),
          .own_pid = static_cast<pid_t>(notice.own_pid),
          .initial_pid = static_cast<pid_t>(notice.initial_pid),
          .uid = notice.as.uid,
          .gid = notice.as.gid,
          .name = name_in(notice),
          .signal = static_cast<int>(notice.exit_code & kSignal),
          .has_core = (notice.exit_code & kHasCore) != 0,
          .status = status_in(notice.exit_code)};
}

bool is_for(const SessionHook& held, const tc_notice& notice) {
  if (held.process && held.process->pid() == static_cast<pid_t>(notice.pid)) return true;
  return held.hook.set_target && has_set(notice, held.hook.set_target);
}

bool has_chosen(const Session& session, const tc_notice& notice) {
  return std::any_of(session.hooks.begin(), session.hooks.end(), [&](const auto& slot) {
    return std::any_of(slot.second.begin(), slot.second.end(),
                       [&](const SessionHook& held) { return is_for(held, notice); });
  });
}

Credentials credentials_of(const tc_notice& notice) {
  const uid_t uid = notice.as.uid;
  const gid_t gid = notice.as.gid;
  return {.uids = {uid, uid, uid},
          .gids = {gid, gid, gid},
          .capabilities = notice.as.capabilities,
          .user_namespace = notice.as.user_namespace,
          .dumpable = !notice.is_hidden};
}

// A process whose credentials have changed since it was chosen is not reported to a user who may not see it.
bool may_hear(const Session& session, const tc_notice& notice) {
  return !session.access.owner || !is_hidden_from(*session.access.owner, credentials_of(notice));
}

}  // namespace

void SessionNotices::dump_at_triggers(const std::string& session) {
  auto found = sessions_.find(session);
  if (!found) return;
  (*found)->is_dumped = true;
  notices_.listen_for_dumps((*found)->id);
}

void SessionNotices::listen_for_dumps(const std::string& session) {
  if (auto found = sessions_.find(session); found && (*found)->is_dumped)
    notices_.listen_for_dumps((*found)->id);
}

std::vector<Notice> SessionNotices::take() {
  std::vector<Notice> taken;
  for (const tc_notice& notice : notices_.take())
    if (auto one = take(notice)) taken.push_back(std::move(*one));
  return taken;
}

std::optional<Notice> SessionNotices::take(const tc_notice& notice) {
  switch (notice.kind) {
    case TC_NOTICE_END: return end(notice);
    case TC_NOTICE_DUMP: return asked_dump(notice);
    case TC_NOTICE_EXEC: awaiting_.note_exec(notice); break;
    case TC_NOTICE_MAPPED: awaiting_.note_mapped(notice); break;
    case TC_NOTICE_JOINED: awaiting_.note_joined(notice); break;
    case TC_NOTICE_UNPROVEN: proofs_.note_unproven(notice); break;
  }
  return std::nullopt;
}

std::optional<Notice> SessionNotices::end(const tc_notice& notice) const {
  SeenEnd seen{end_of(notice), {}};
  for (const auto& [name, session] : std::as_const(sessions_))
    if (session.is_dumped && has_chosen(session, notice) && may_hear(session, notice))
      seen.sessions.push_back(name);
  if (seen.sessions.empty()) return std::nullopt;
  return seen;
}

std::optional<Notice> SessionNotices::asked_dump(const tc_notice& notice) const {
  const Session* session = sessions_.of_number(notice.session);
  const Session* by = sessions_.of_number(notice.asking_session);
  if (!session || !session->is_dumped) return std::nullopt;
  return DumpAsked{session->name, by ? by->name : "", static_cast<pid_t>(notice.pid),
                   name_in(notice)};
}

}  // namespace tracectl
