// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <string>
#include <vector>

#include "daemon/kernel/notices.h"
#include "daemon/sessions/awaiting.h"
#include "daemon/sessions/notice.h"
#include "daemon/sessions/session_proofs.h"
#include "daemon/sessions/sessions.h"

namespace tracectl {

// The notices that the BPF programs send besides events.
class SessionNotices {
 public:
  // All are borrowed.
  SessionNotices(Notices& notices, Sessions& sessions, Awaiting& awaiting, SessionProofs& proofs)
      : notices_(notices), sessions_(sessions), awaiting_(awaiting), proofs_(proofs) {}

  // Readable when there are notices. Borrowed.
  int fd() const { return notices_.fd(); }
  // Returns the notices of sessions that still exist, and of the ends of processes that sessions with dumps have chosen.
  // Those for Awaiting and SessionProofs are passed to them.
  std::vector<Notice> take();

  // The next hit that triggers this session, which has just been made, asks for a dump by a notice. Later hits
  // do not, until listen_for_dumps().
  void dump_at_triggers(const std::string& session);
  void listen_for_dumps(const std::string& session);
  void watch_ends(const WatchedEnds& ends) { notices_.watch_ends(ends); }

 private:
  std::optional<Notice> take(const tc_notice& notice);
  std::optional<Notice> end(const tc_notice& notice) const;
  std::optional<Notice> asked_dump(const tc_notice& notice) const;

  Notices& notices_;
  Sessions& sessions_;
  Awaiting& awaiting_;
  SessionProofs& proofs_;
};

}  // namespace tracectl
