// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <string>
#include <vector>

#include "client/options/exit_status.h"
#include "daemon/model/stack.h"

namespace tracectl {

inline constexpr const char* kDefaultSocket = "/run/tracectl/tracectl.sock";

// Options of every verb.
struct CommonOptions {
  std::string socket = kDefaultSocket;
  bool embedded = false;
  std::string host;             // runs the command there
  bool end_with_input = false;  // ends as by ^C
  bool fast_nops = false;       // of the embedded engine
  bool emulate = false;         // likewise
  bool json = false;
  bool mangled = false;  // functions are shown by their linkage names
  bool pager = true;     // for text that is longer than the terminal
  bool quiet = false;
  bool verbose = false;
  std::vector<std::string> debug_paths;  // files and directories of debug information
  StackFormat stack_format = StackFormat::symbols;
};

// The choice of probes and of processes.
struct ProbeOptions {
  std::vector<std::string> patterns;
  bool global = false;
  bool inlined = false;
  bool local = false;  // the default, as an explicit option
  std::vector<int64_t> pids;
  std::vector<std::string> executables;
  std::vector<std::string> units;
  std::vector<std::string> cgroups;
  std::vector<std::string> containers;  // names or ids
  std::vector<std::string> pods;        // NAMESPACE/NAME
  bool all = false;
  bool follow = false;               // children forked later, too
  bool first_child = false;          // the first of them only
  std::vector<std::string> command;  // after --
};

}  // namespace tracectl
