// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/protocol/session_file.h"

#include "daemon/protocol/codec.h"
#include "daemon/protocol/configuration.h"

namespace tracectl::protocol {

Result<SessionFile> session_file(std::string_view text) {
  auto value = parse_text(text);
  if (!value) return value.error();
  return from_json<SessionFile>(*value);
}

std::string text_of(const SessionFile& saved) { return text_of(to_json(saved)); }

SessionCreate creation_of(const SessionFile& saved, const std::string& name) {
  return {
      .name = name, .budget = saved.budget, .recorder = saved.recorder, .dump_on = saved.dump_on};
}

StageSet staging_of(const SettingPart& setting, const std::string& session) {
  return {.session = session,
          .patterns = {setting.pattern},
          .scope = setting.scope,
          .target = setting.target,
          .action = setting.action,
          .when = setting.when,
          .returns = setting.returns.value_or(StageSet{}.returns),
          .from = setting.from,
          .by = setting.by,
          .slowest = setting.slowest,
          .graph = setting.graph,
          .types = setting.types};
}

Result<SessionFile> session_file_of(const SessionPart& session) {
  SessionFile saved{.settings = session.settings, .budget = session.budget};
  for (const SettingPart& setting : saved.settings)
    if (!setting.target.pids.empty())
      return Error{Code::invalid,
                   setting.pattern +
                       " is for processes by their numbers, which mean others when the daemon "
                       "begins: choose them by the file that they run (-x), or all (-a)"};
  if (session.recorder) {
    saved.recorder = session.recorder->bound;
    saved.dump_on = session.recorder->dump_on;
  }
  return saved;
}

}  // namespace tracectl::protocol
