// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/sessions/sessions.h"

#include <algorithm>
#include <cctype>

namespace tracectl {
namespace {

constexpr size_t kLongestName = 64;

bool is_session_name(const std::string& name) {
  return !name.empty() && name.size() <= kLongestName &&
         std::all_of(name.begin(), name.end(), [](unsigned char c) {
           return std::isalnum(c) || c == '-' || c == '_' || c == '.';
         });
}

}  // namespace

Result<Session*> Sessions::find(const std::string& name) {
  const auto found = by_name_.find(name);
  if (found == by_name_.end())
    return Error{
        Code::not_found,
        "there is no session \"" + name + "\"; tracectl session list shows which there are",
        "session"};
  return &found->second;
}

Result<const Session*> Sessions::find(const std::string& name) const {
  auto found = const_cast<Sessions*>(this)->find(name);
  if (!found) return found.error();
  return const_cast<const Session*>(*found);
}

const Session* Sessions::of_number(uint32_t number) const {
  const auto found = std::find_if(by_name_.begin(), by_name_.end(),
                                  [&](const auto& entry) { return entry.second.id == number; });
  return found == by_name_.end() ? nullptr : &found->second;
}

Result<std::string> Sessions::name_for(const std::string& wanted) {
  if (wanted.empty()) {
    std::string name;
    do name = "trace-" + std::to_string(++unnamed_made_);
    while (has(name));
    return name;
  }
  if (!is_session_name(wanted))
    return Error{Code::invalid, "a session's name has 1 to 64 letters, digits, '-', '_' and '.'",
                 "name"};
  if (has(wanted))
    return Error{Code::busy, "there is a session \"" + wanted + "\" already", "name"};
  return wanted;
}

Result<Session*> Sessions::make(const std::string& name) {
  const auto number = numbers_.take();
  if (!number)
    return Error{Code::exhausted,
                 "there are " + std::to_string(int{TC_MAX_SESSIONS}) + " sessions, no more fit"};
  return &make_with(*number, name);
}

Session& Sessions::make_with(uint32_t number, const std::string& name) {
  Session& session = by_name_[name];
  session.id = static_cast<SessionId>(number);
  session.name = name;
  return session;
}

void Sessions::remove_but_number(Session& session) {
  const std::string name = session.name;
  by_name_.erase(name);
}

void Sessions::remove(Session& session) {
  const uint32_t number = session.id;
  remove_but_number(session);
  numbers_.give_back(number);
}

}  // namespace tracectl
