// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <set>
#include <string>
#include <vector>

#include "daemon/base/result.h"
#include "daemon/finding/linkers.h"
#include "daemon/finding/resolver.h"
#include "daemon/process/replaced_files.h"
#include "daemon/sessions/intent.h"
#include "daemon/sessions/sessions.h"
#include "daemon/switching/hooks.h"

namespace tracectl {

// Learns of files that come after the commit that chose them: executed in a cgroup that a session follows, put at the
// path of a chosen file, or mapped by a chosen process.
class Awaiting {
 public:
  // All are borrowed.
  Awaiting(Resolver& resolver, Hooks& hooks, Linkers& linkers, Sessions& sessions)
      : resolver_(resolver), hooks_(hooks), linkers_(linkers), sessions_(sessions) {}

  // ---- in a commit ----
  // Call it before looking at running processes and their files: later ones are then reported.
  Status listen(Session& session, const std::vector<Setting>& settings);
  // Arms the dynamic linkers of the processes that may map wanted libraries.
  Status arm_linkers(Intent& intent);
  // After the switch: the session takes what the intent has found.
  void settle(Intent& intent);
  // After the switch. Cannot fail: without memory, the next commit watches the rest.
  void watch_what_is_chosen(Session& session);

  // ---- what has come ----
  void note_exec(const tc_notice& notice);
  void note_mapped(const tc_notice& notice);
  void note_joined(const tc_notice& notice);
  // Readable when another file may have been put at a path that a session has chosen, or -1. Borrowed. Call
  // take_replaced() then.
  int replaced_fd() const { return replaced_.fd(); }
  void take_replaced();
  // Takes the files that were put at the paths of those that the session has chosen.
  static void take_up_replaced(Session& session);
  // Whether files that nobody has reported may come for the session.
  static bool more_may_come(const Session& session);

 private:
  Resolver& resolver_;
  Hooks& hooks_;
  Linkers& linkers_;
  Sessions& sessions_;
  ReplacedFiles replaced_;
};

}  // namespace tracectl
