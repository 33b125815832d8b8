// SPDX-License-Identifier: BSD-2-Clause
//
// What the interface asks the engine, and the answers.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "daemon/base/result.h"
#include "daemon/protocol/messages.h"

namespace tracectl::ui {

struct FoundProbe {
  std::string probe;  // canonical name
  std::string name;   // for people
  std::string cost;   // class
  size_t sites = 0;

  bool operator==(const FoundProbe&) const = default;
};
// The probes that a pattern stands for.
struct FoundProbes {
  std::string pattern;
  std::vector<FoundProbe> probes;
};

struct WantedSetting {
  std::string pattern;
  std::string action;

  bool operator==(const WantedSetting&) const = default;
};
using WantedSettings = std::vector<WantedSetting>;

// ---- requests ----

struct ChooseProcess {
  int64_t pid = 0;
};
// Each pattern that is complete; one without a match is left out.
struct ListFunctions {
  int64_t pid = 0;
  std::string typed;
  std::vector<std::string> patterns;
};
// Puts these settings in force instead of those before, with one commit.
struct Switch {
  WantedSettings settings;
};
struct ReadRows {};
// As a session of the daemon, or, if the name ends with .json, as a file for its directory of sessions.
struct SaveAs {
  std::string name;
  WantedSettings settings;
};
struct StartRecording {
  std::string file;
  WantedSettings settings;
};
struct StopRecording {
  WantedSettings settings;
};
using Request = std::variant<ChooseProcess, ListFunctions, Switch, ReadRows, SaveAs, StartRecording,
                             StopRecording>;

// ---- answers ----

struct Listed {
  int64_t pid = 0;
  std::string typed;
  std::vector<FoundProbes> found;
  std::string why_nothing;
};
// After an error the settings before are in force.
struct Switched {
  Result<protocol::CommitReply> reply;
};
struct Rows {
  Result<protocol::ReadReply> read;
  double at_s = 0;
};
struct LeftOut {
  std::vector<protocol::LeftOutPart> probes;
  double budget = 0;
};
struct Unproven {
  protocol::UnprovenPart part;
};
struct Recording {
  std::string file;
  protocol::RecordingPart part;  // "done" and "failed": it has ended
};
struct TargetEnded {};
struct Said {
  std::string text;
  bool is_error = false;
};
using Answer =
    std::variant<Listed, Switched, Rows, LeftOut, Unproven, Recording, TargetEnded, Said>;

}  // namespace tracectl::ui
