// SPDX-License-Identifier: BSD-2-Clause
//
// session.create, list, show, delete, pause, resume, restart. The rules for these structs:
// daemon/protocol/messages.h.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "daemon/protocol/messages/parts.h"

namespace tracectl::protocol {

struct SessionCreate {
  static constexpr const char* kMethod = "session.create";
  using Reply = SessionPart;
  // None: an unnamed session, which ends with this connection.
  std::optional<std::string> name = {};
  // Limit for the cost of its hits, in percent of one CPU: above 0, and at most 100 for each CPU. Probes that
  // cost more are left out. None: no limit.
  std::optional<double> budget = {};
  // Keeps its last events in memory, for record.dump.
  std::optional<RecorderBoundPart> recorder = {};
  // Only with a recorder.
  std::optional<DumpOnPart> dump_on = {};
  // The session goes on with the next daemon, with its settings. Requires a name; refused if nothing keeps
  // sessions for the next daemon.
  bool saved = false;
  template <class Self, class F> static void fields(Self& s, F&& f) {
    f("name", s.name);
    f("budget", s.budget);
    f("recorder", s.recorder);
    f("dump_on", s.dump_on);
    f.optional("saved", s.saved);
  }
};
struct SessionListReply {
  std::vector<SessionPart> sessions;
  template <class Self, class F> static void fields(Self& s, F&& f) { f("sessions", s.sessions); }
};
struct SessionList {
  static constexpr const char* kMethod = "session.list";
  using Reply = SessionListReply;
  template <class Self, class F> static void fields(Self&, F&&) {}
};
struct SessionShow {
  static constexpr const char* kMethod = "session.show";
  using Reply = SessionPart;
  std::string session;
  template <class Self, class F> static void fields(Self& s, F&& f) { f("session", s.session); }
};

struct ProveReply {
  bool needed = false;          // the session's user may not trace every process
  std::vector<int64_t> proven;  // process ids, as the daemon sees them
  UnprovenPart unproven;        // since the session was made
  std::vector<int64_t> wanted;  // unproven ones that were seen since the last time; at most 64
  template <class Self, class F> static void fields(Self& s, F&& f) {
    f("needed", s.needed);
    f("proven", s.proven);
    f("unproven", s.unproven);
    f("wanted", s.wanted);
  }
};
// Proves which processes the kernel lets the client trace. A session of a user who may not trace every
// process sees only hits of processes that were proven to it, and of those that they fork; an exec ends a
// proof.
struct SessionProve {
  static constexpr const char* kMethod = "session.prove";
  using Reply = ProveReply;
  std::string session;
  // The number of descriptors that come with the request (SCM_RIGHTS), 0 to 128: of /proc/PID/mem, opened for
  // reading, one for each process. Any other descriptor, or one of a program that the process does not
  // execute any more, proves nothing.
  uint64_t proofs = 0;
  template <class Self, class F> static void fields(Self& s, F&& f) {
    f("session", s.session);
    f.optional("proofs", s.proofs);
  }
};

struct BudgetReply {
  std::optional<double> budget = {};       // in percent of one CPU
  double percent = 0;                      // estimated cost of the hits in the last period
  uint64_t probes = 0;                     // armed
  std::vector<LeftOutPart> left_out = {};  // the earliest first
  template <class Self, class F> static void fields(Self& s, F&& f) {
    f("budget", s.budget);
    f("percent", s.percent);
    f("probes", s.probes);
    f("left_out", s.left_out);
  }
};
// The state of the session's budget.
struct SessionBudget {
  static constexpr const char* kMethod = "session.budget";
  using Reply = BudgetReply;
  std::string session;
  template <class Self, class F> static void fields(Self& s, F&& f) { f("session", s.session); }
};

// The reply to a switch of whole sessions.
struct SwitchReply {
  uint64_t epoch = 0;
  uint64_t sessions = 0, sites = 0;  // changed ones; 0: nothing had to be changed
  PhasesPart phases_us;
  std::vector<SkewPart> skew_ns;
  template <class Self, class F> static void fields(Self& s, F&& f) {
    f("epoch", s.epoch);
    f("sessions", s.sessions);
    f("sites", s.sites);
    f("phases_us", s.phases_us);
    f("skew_ns", s.skew_ns);
  }
};
// Ends all its settings in one step, and deletes its results.
struct SessionDelete {
  static constexpr const char* kMethod = "session.delete";
  using Reply = SwitchReply;
  std::string session;
  template <class Self, class F> static void fields(Self& s, F&& f) { f("session", s.session); }
};
// Stops counting and streaming, in one step, and keeps the counters; sites stay armed. Commits during the
// pause arm their sites, which stay silent until the session is resumed.
struct SessionPause {
  static constexpr const char* kMethod = "session.pause";
  using Reply = SwitchReply;
  std::optional<std::string> session;  // none: all sessions, in one switch
  template <class Self, class F> static void fields(Self& s, F&& f) { f("session", s.session); }
};
// Ends a pause; counters continue from their values.
struct SessionResume {
  static constexpr const char* kMethod = "session.resume";
  using Reply = SwitchReply;
  std::optional<std::string> session;  // none: all sessions, in one switch
  template <class Self, class F> static void fields(Self& s, F&& f) { f("session", s.session); }
};
// Sets the counters of a session to zero and resumes it, in one step. The old counts are lost; session.read
// with `clear` returns them.
struct SessionRestart {
  static constexpr const char* kMethod = "session.restart";
  using Reply = SwitchReply;
  std::string session;
  template <class Self, class F> static void fields(Self& s, F&& f) { f("session", s.session); }
};

}  // namespace tracectl::protocol
