// SPDX-License-Identifier: BSD-2-Clause
//
// The text of a session that begins with the daemon: tracectld-sessions(8). Its settings have the form of
// session.show.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/base/result.h"
#include "daemon/protocol/messages.h"

namespace tracectl::protocol {

struct SessionFile {
  std::vector<SettingPart> settings;
  // In the form of session.create.
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

// Errors give the place: the line and column of invalid JSON, or the field.
Result<SessionFile> session_file(std::string_view text);

// Equal for files with the same contents, whatever their formatting.
std::string text_of(const SessionFile& saved);

SessionCreate creation_of(const SessionFile& saved, const std::string& name);
StageSet staging_of(const SettingPart& setting, const std::string& session);

// The saved form of an existing session. Fails if a setting is for processes by their numbers, because these
// name other processes later.
Result<SessionFile> session_file_of(const SessionPart& session);

}  // namespace tracectl::protocol
