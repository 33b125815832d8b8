// SPDX-License-Identifier: BSD-2-Clause
//
// session.create, list, show, delete. The rules of these structs: daemon/protocol/messages.h.
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
struct SessionDelete {
  static constexpr const char* kMethod = "session.delete";
  using Reply = Empty;
  std::string session;
  template <class Self, class F> static void fields(Self& s, F&& f) { f("session", s.session); }
};

}  // namespace tracectl::protocol
