// SPDX-License-Identifier: BSD-2-Clause
//
// The text of a session that begins with the daemon: tracectld(8). Its settings are as session.show
// tells them.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/base/result.h"
#include "daemon/protocol/messages.h"

namespace tracectl::protocol {

struct SavedSession {
  std::vector<SettingPart> settings;
  // As session.create takes them.
  std::optional<double> budget = {};
  std::optional<RecorderBoundPart> recorder = {};
  std::optional<DumpOnPart> dump_on = {};
  template <class Self, class F> static void fields(Self& s, F&& f) {
    f("settings", s.settings);
    f("budget", s.budget);
    f("recorder", s.recorder);
    f("dump_on", s.dump_on);
  }
};

// An error says where: the line and column of what is no JSON, or the field.
Result<SavedSession> saved_session(std::string_view text);

// The same for files that say the same.
std::string text_of(const SavedSession& saved);

SessionCreate creation_of(const SavedSession& saved, const std::string& name);
StageSet staging_of(const SettingPart& setting, const std::string& session);

// Of a session that is there: what begins it again. Fails where a setting is for processes by their
// numbers, which mean others later.
Result<SavedSession> saved(const SessionPart& session);

}  // namespace tracectl::protocol
