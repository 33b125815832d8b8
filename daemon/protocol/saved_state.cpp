// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/protocol/saved_state.h"

#include <nlohmann/json.hpp>

#include "daemon/protocol/codec.h"

namespace tracectl::protocol {
namespace {

Status check_version(const Json& parsed) {
  const nlohmann::json& state = parsed.value();
  const auto found = state.is_object() ? state.find("version") : state.end();
  if (found == state.end() || *found == SavedState::kVersion) return ok();
  return Error{Code::unsupported,
               "saved sessions were written down by a tracectld that does it in another way: "
               "version " +
                   text_of(parsed.part(*found)) + ", not " + std::to_string(SavedState::kVersion)};
}

Status check(const SavedSetting& saved) {
  if (saved.births.size() == saved.setting.target.pids.size()) return ok();
  return Error{Code::invalid, saved.setting.pattern + " has not one birth for each process"};
}

Status check(const SavedSession& session) {
  for (const SavedSetting& saved : session.settings)
    if (auto good = check(saved); !good) return good;
  for (const SavedSetting& saved : session.draft.value_or(std::vector<SavedSetting>{}))
    if (auto good = check(saved); !good) return good;
  return ok();
}

}  // namespace

std::string text_of(const SavedState& state) { return text_of(to_json(state)); }

Result<SavedState> saved_state(std::string_view text) {
  if (text.size() > SavedState::kMostBytes)
    return Error{Code::exhausted, "what was written down of saved sessions is too long"};
  auto parsed = parse_json(text);
  if (!parsed) return parsed.error();
  if (auto known = check_version(*parsed); !known) return known.error();
  auto state = from_json<SavedState>(*parsed);
  if (!state) return state;
  for (const SavedSession& session : state->sessions)
    if (auto good = check(session); !good) return good.error().in("session " + session.name);
  return state;
}

}  // namespace tracectl::protocol
