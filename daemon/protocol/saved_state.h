// SPDX-License-Identifier: BSD-2-Clause
//
// The state of saved sessions that is written for the next daemon, which begins them again from it.
//
// It is JSON, unlike the engine's state (daemon/saved/engine_state.h), which only a daemon with the same BPF programs
// reads: every later daemon must read this one. Its settings are those of the protocol, whose lists only grow, so what
// an earlier daemon has written needs no form of its own. In the binary form each new member would be a new version.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/base/result.h"
#include "daemon/model/owner.h"
#include "daemon/protocol/messages.h"

namespace tracectl::protocol {

struct SavedSetting {
  SettingPart setting;
  std::vector<uint64_t> births = {};  // of the target's pids, in their order: Target::births
  template <class Self, class F> static void fields(Self& s, F&& f) {
    f("setting", s.setting);
    f("births", s.births);
  }
};

// A file that the session's user gave.
struct SavedFile {
  std::string path;
  std::string kept;                          // its name in the store of descriptors
  std::optional<std::string> debug_of = {};  // it is the debug file of the files with this build id
  template <class Self, class F> static void fields(Self& s, F&& f) {
    f("path", s.path);
    f("kept", s.kept);
    f("debug_of", s.debug_of);
  }
};

struct SavedSession {
  std::string name;
  uid_t user = 0;                           // the user who made it
  std::optional<std::string> account = {};  // of that user, as /etc/passwd had it then
  std::optional<Owner> owner = {};          // none: it may trace every process
  std::optional<std::string> began = {};    // text of the daemon's file that began it
  std::optional<double> budget = {};
  std::optional<RecorderBoundPart> recorder = {};
  std::optional<DumpOnPart> dump_on = {};
  bool paused = false;
  std::vector<SavedFile> files = {};
  std::vector<SavedSetting> settings = {};  // in force
  std::optional<std::vector<SavedSetting>> draft = {};
  template <class Self, class F> static void fields(Self& s, F&& f) {
    f("name", s.name);
    f("user", s.user);
    f("account", s.account);
    f("owner", s.owner);
    f("began", s.began);
    f("budget", s.budget);
    f("recorder", s.recorder);
    f("dump_on", s.dump_on);
    f("paused", s.paused);
    f("files", s.files);
    f("settings", s.settings);
    f("draft", s.draft);
  }
};

struct SavedState {
  // Changes whenever the format does.
  static constexpr uint64_t kVersion = 1;
  static constexpr size_t kMostBytes = 64 << 20;
  uint64_t version = kVersion;
  uint64_t written_ns = 0;  // since boot
  std::vector<SavedSession> sessions = {};
  template <class Self, class F> static void fields(Self& s, F&& f) {
    f("version", s.version);
    f("written_ns", s.written_ns);
    f("sessions", s.sessions);
  }
};

std::string text_of(const SavedState& state);
// The text is not trusted, whoever wrote it. Fails with Code::unsupported for another version.
Result<SavedState> saved_state(std::string_view text);

}  // namespace tracectl::protocol
