// SPDX-License-Identifier: BSD-2-Clause
//
// session.create, list, show, delete, pause, resume, restart. The rules of these structs: daemon/protocol/messages.h.
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
  // What its hits may cost, in percent of one CPU: above 0, and at most 100 for each CPU. What costs more
  // is left out. None: they may cost what they do.
  std::optional<double> budget = {};
  // Its last events are kept in memory, for record.dump.
  std::optional<RecorderBoundPart> recorder = {};
  // Only with a recorder.
  std::optional<DumpOnPart> dump_on = {};
  // It goes on with the next daemon, with its settings. Has a name; refused where nobody keeps it.
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
  std::vector<int64_t> proven;  // processes, as the daemon sees them
  UnprovenPart unproven;        // since the session was made
  std::vector<int64_t> wanted;  // unproven ones that were seen since the last time; at most 64
  template <class Self, class F> static void fields(Self& s, F&& f) {
    f("needed", s.needed);
    f("proven", s.proven);
    f("unproven", s.unproven);
    f("wanted", s.wanted);
  }
};
// Shows which processes the kernel lets the client trace. Of a user who may not trace every process a session sees
// only hits of processes that were proven to it, and of those that they fork; an exec ends it.
struct SessionProve {
  static constexpr const char* kMethod = "session.prove";
  using Reply = ProveReply;
  std::string session;
  // So many descriptors come with the request (SCM_RIGHTS), 0 to 128: /proc/PID/mem, opened for reading, one of each
  // process. One that is anything else, or of a program that the process executes no longer, proves nothing.
  uint64_t proofs = 0;
  template <class Self, class F> static void fields(Self& s, F&& f) {
    f("session", s.session);
    f.optional("proofs", s.proofs);
  }
};

struct BudgetReply {
  std::optional<double> budget = {};       // in percent of one CPU
  double percent = 0;                      // what the hits of the last period cost, by estimate
  uint64_t probes = 0;                     // armed
  std::vector<LeftOutPart> left_out = {};  // the earliest first
  template <class Self, class F> static void fields(Self& s, F&& f) {
    f("budget", s.budget);
    f("percent", s.percent);
    f("probes", s.probes);
    f("left_out", s.left_out);
  }
};
// What became of the session's budget so far.
struct SessionBudget {
  static constexpr const char* kMethod = "session.budget";
  using Reply = BudgetReply;
  std::string session;
  template <class Self, class F> static void fields(Self& s, F&& f) { f("session", s.session); }
};

// A switch of whole sessions.
struct SwitchReply {
  uint64_t epoch = 0;
  uint64_t sessions = 0, sites = 0;  // that were changed; 0: they were so already, nothing was done
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
// All its settings end in one step, and its results with it.
struct SessionDelete {
  static constexpr const char* kMethod = "session.delete";
  using Reply = SwitchReply;
  std::string session;
  template <class Self, class F> static void fields(Self& s, F&& f) { f("session", s.session); }
};
// Stops counting and streaming, in one step, and keeps the counters; sites stay armed. What is
// committed meanwhile is armed and silent until the session is resumed.
struct SessionPause {
  static constexpr const char* kMethod = "session.pause";
  using Reply = SwitchReply;
  std::optional<std::string> session;  // none: all sessions, by one switch
  template <class Self, class F> static void fields(Self& s, F&& f) { f("session", s.session); }
};
// The reverse; counters go on from what they have.
struct SessionResume {
  static constexpr const char* kMethod = "session.resume";
  using Reply = SwitchReply;
  std::optional<std::string> session;  // none: all sessions, by one switch
  template <class Self, class F> static void fields(Self& s, F&& f) { f("session", s.session); }
};
// Sets the counters of a session to zero and resumes it, in one step. What had been counted is lost;
// session.read with `clear` returns it.
struct SessionRestart {
  static constexpr const char* kMethod = "session.restart";
  using Reply = SwitchReply;
  std::string session;
  template <class Self, class F> static void fields(Self& s, F&& f) { f("session", s.session); }
};

}  // namespace tracectl::protocol
