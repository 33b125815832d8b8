// SPDX-License-Identifier: BSD-2-Clause
//
// The daemon's settings: its command line overrides its file, and the file overrides the defaults.
#pragma once

#include <cstdint>
#include <string>

#include "daemon/base/result.h"
#include "daemon/control/dump_folder.h"
#include "daemon/protocol/configuration.h"
#include "daemon/sessions/engine.h"

namespace tracectl {

struct Configuration {
  std::string dumps = "/var/lib/tracectl/dumps";
  uint64_t ring_bytes = EngineOptions{}.ring_bytes;
  uint64_t memory_bytes = EngineOptions{}.memory_bytes;
  double linger_s = 0;
  bool fast_nops = false;
  bool emulate = false;
  bool verbose = false;
  Quota quota = {};
};

// The sources of the settings. They are read when the daemon starts, and each time it reloads.
struct ConfigurationSource {
  std::string path = "/etc/tracectl/tracectld.json";
  bool must_exist = false;
  protocol::AskedConfiguration command_line;

  // Refuses all settings if one is wrong.
  Result<Configuration> read() const;
};

// The settings in force in a running daemon.
class LiveConfiguration {
 public:
  // `dumps`: the folder that the daemon dumps to.
  LiveConfiguration(Configuration configuration, DumpFolder dumps)
      : in_force_(std::move(configuration)), dumps_(std::move(dumps)) {}

  // Applies the settings that can change, and logs those that need a restart. If the source was refused,
  // nothing changes. Returns the outcome, for `systemctl status`.
  std::string take(const Result<Configuration>& read);

 private:
  Configuration in_force_;
  DumpFolder dumps_;
};

}  // namespace tracectl
