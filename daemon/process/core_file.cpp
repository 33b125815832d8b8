// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/process/core_file.h"

#include <sys/utsname.h>

#include <fstream>

#include "daemon/base/signal_name.h"

namespace tracectl {
namespace {

constexpr const char* kNobodyKnows = "*";

std::string first_line_of(const char* path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

std::string host_name() {
  utsname name{};
  ::uname(&name);
  return name.nodename;
}

std::string meaning_of(char specifier, const ProcessEnd& end) {
  switch (specifier) {
    case '%': return "%";
    case 'h': return host_name();
    case 'g': return std::to_string(end.gid);
    case 'p': return std::to_string(end.own_pid);
    case 'P': return std::to_string(end.initial_pid);
    case 'u': return std::to_string(end.uid);
    case 's': return std::to_string(end.signal);
    default: return kNobodyKnows;
  }
}

// A `%` at the end is dropped, as the kernel does.
std::string expanded(const std::string& pattern, const ProcessEnd& end) {
  std::string name;
  for (size_t i = 0; i < pattern.size(); ++i) {
    if (pattern[i] != '%')
      name += pattern[i];
    else if (++i < pattern.size())
      name += meaning_of(pattern[i], end);
  }
  return name;
}

// The program that a pattern `|PROGRAM ARGUMENTS` runs.
std::string program_of(const std::string& pattern) {
  const size_t from = pattern.find_first_not_of(" \t", 1);
  if (from == std::string::npos) return "";
  return pattern.substr(from, pattern.find_first_of(" \t", from) - from);
}

std::string handed_over_text(const std::string& program, const ProcessEnd& end) {
  std::string text = "its core was handed to " + program;
  if (program.ends_with("/systemd-coredump"))
    text += ": coredumpctl info " + std::to_string(end.pid);
  return text;
}

}  // namespace

CoreNaming CoreNaming::of_machine() {
  return {first_line_of("/proc/sys/kernel/core_pattern"),
          first_line_of("/proc/sys/kernel/core_uses_pid") != "0"};
}

std::string core_text(const CoreNaming& naming, const ProcessEnd& end) {
  const std::string& pattern = naming.pattern;
  if (!end.has_core) return "it left no core";
  if (pattern.starts_with('|')) return handed_over_text(program_of(pattern), end);
  if (pattern.starts_with('@')) return "its core was sent to the socket " + pattern.substr(1);
  std::string name = expanded(pattern, end);
  // fs/coredump.c, format_corename(): the PID is not appended if the pattern has a %p.
  if (naming.uses_pid && pattern.find("%p") == std::string::npos)
    name += "." + std::to_string(end.own_pid);
  if (pattern.starts_with('/')) return "its core is " + name;
  return "its core is " + name + " in its working directory";
}

std::string text(const CoreNaming& naming, const ProcessEnd& end) {
  const std::string process = "process " + std::to_string(end.pid) + " (" + end.name + ")";
  if (!end.signal) return process + " has exited with status " + std::to_string(end.status);
  return process + " was killed by " + signal_name(end.signal) + "; " + core_text(naming, end);
}

}  // namespace tracectl
