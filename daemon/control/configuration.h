// SPDX-License-Identifier: BSD-2-Clause
//
// What the daemon goes by: its command line, then its file, then the defaults.
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
  bool verbose = false;
  Quota quota = {};
};

// Where settings stand. Read when the daemon starts, and each time it is to reload.
struct ConfigurationSource {
  std::string path = "/etc/tracectl/tracectld.json";
  bool must_exist = false;
  protocol::AskedConfiguration command_line;

  // Refuses all of it where something is wrong with any of it.
  Result<Configuration> read() const;
};

// What is in force in a daemon that runs.
class LiveConfiguration {
 public:
  // The folder is the one the daemon dumps to.
  LiveConfiguration(Configuration configuration, DumpFolder dumps)
      : in_force_(std::move(configuration)), dumps_(std::move(dumps)) {}

  // Takes what can change, and logs what wants a restart. Where the source was refused, nothing
  // changes. How it went, for `systemctl status`.
  std::string take(const Result<Configuration>& read);

 private:
  Configuration in_force_;
  DumpFolder dumps_;
};

}  // namespace tracectl
