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
  std::optional<std::string> name;  // none: an unnamed session, which ends with this connection
  template <class Self, class F> static void fields(Self& s, F&& f) { f("name", s.name); }
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
