// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/control/configuration.h"

#include <bit>
#include <vector>

#include "daemon/control/log.h"
#include "daemon/control/text_file.h"

namespace tracectl {
namespace {

constexpr size_t kMostBytes = 64 << 10;  // of a file
constexpr uint64_t kLeastRing = 4096, kMostRing = uint64_t{1} << 30;
constexpr uint64_t kLeastMemory = uint64_t{128} << 20;
constexpr uint64_t kLeastRecording = uint64_t{1} << 20;  // names come before events
constexpr double kMostLinger_s = 86400;
constexpr uint64_t kMostUsers = 255;          // accounts of the programs
constexpr uint64_t kMostEvents = UINT32_MAX;  // a second: the programs count in 32 bits

// The file's text; empty braces if there is no file and none is needed.
Result<std::string> contents_of(const ConfigurationSource& source) {
  auto text = read_text_file(source.path, kMostBytes);
  if (!text && text.error().code == Code::not_found && !source.must_exist) return std::string{"{}"};
  return text;
}

Status check_asked(const protocol::AskedConfiguration& asked) {
  if (asked.ring_bytes && (*asked.ring_bytes < kLeastRing || *asked.ring_bytes > kMostRing ||
                           !std::has_single_bit(*asked.ring_bytes)))
    return Error{Code::invalid, "ring-bytes: a power of two from 4096 to 1073741824 is wanted"};
  if (asked.memory_bytes && *asked.memory_bytes < kLeastMemory)
    return Error{Code::invalid, "memory-bytes: at least 134217728 are wanted"};
  if (asked.linger && !(*asked.linger >= 0 && *asked.linger <= kMostLinger_s))
    return Error{Code::invalid, "linger: 0 to 86400 seconds are wanted"};
  if (asked.quota && asked.quota->events_per_second.value_or(0) > kMostEvents)
    return Error{Code::invalid, "quota.events-per-second: at most 4294967295 are counted"};
  if (asked.quota && asked.quota->recording_bytes.value_or(kLeastRecording) < kLeastRecording)
    return Error{Code::invalid, "quota.recording-bytes: at least 1048576 are wanted"};
  if (asked.quota && asked.quota->most_users &&
      (*asked.quota->most_users < 1 || *asked.quota->most_users > kMostUsers))
    return Error{Code::invalid, "quota.most-users: 1 to 255 are wanted"};
  return ok();
}

void take_over(Quota& into, const protocol::AskedQuota& asked) {
  into.sessions = asked.sessions.value_or(into.sessions);
  into.settings = asked.settings.value_or(into.settings);
  into.sites = asked.sites.value_or(into.sites);
  into.ring_bytes = asked.ring_bytes.value_or(into.ring_bytes);
  into.stream_bytes = asked.stream_bytes.value_or(into.stream_bytes);
  into.kept = asked.kept.value_or(into.kept);
  into.events_per_second = asked.events_per_second.value_or(into.events_per_second);
  into.patterns = asked.patterns.value_or(into.patterns);
  into.matches = asked.matches.value_or(into.matches);
  into.recording_bytes = asked.recording_bytes.value_or(into.recording_bytes);
  into.users = asked.users.value_or(into.users);
  into.most_users = asked.most_users.value_or(into.most_users);
}

void take_over(Configuration& into, const protocol::AskedConfiguration& asked) {
  into.dumps = asked.dumps.value_or(into.dumps);
  into.ring_bytes = asked.ring_bytes.value_or(into.ring_bytes);
  into.memory_bytes = asked.memory_bytes.value_or(into.memory_bytes);
  into.linger_s = asked.linger.value_or(into.linger_s);
  into.fast_nops = asked.fast_nops.value_or(into.fast_nops);
  into.emulate = asked.emulate.value_or(into.emulate);
  into.verbose = asked.verbose.value_or(into.verbose);
  if (asked.quota) take_over(into.quota, *asked.quota);
}

Result<protocol::AskedConfiguration> asked_in_file(const ConfigurationSource& source) {
  const auto text = contents_of(source);
  if (!text) return text.error().in(source.path);
  auto asked = protocol::asked_configuration(*text);
  if (!asked) return asked.error().in(source.path);
  if (auto good = check_asked(*asked); !good) return good.error().in(source.path);
  // Only a command line may have a relative path: its user knows the working directory.
  if (asked->dumps && !asked->dumps->starts_with('/'))
    return Error{Code::invalid, "dumps: an absolute path is wanted"}.in(source.path);
  return asked;
}

bool is_same(const Quota& a, const Quota& b) {
  return a.sessions == b.sessions && a.settings == b.settings && a.sites == b.sites &&
         a.ring_bytes == b.ring_bytes && a.stream_bytes == b.stream_bytes && a.kept == b.kept &&
         a.events_per_second == b.events_per_second && a.patterns == b.patterns &&
         a.matches == b.matches && a.recording_bytes == b.recording_bytes && a.users == b.users &&
         a.most_users == b.most_users;
}

// The names, as in the file, of settings that differ and cannot change while the daemon runs.
std::vector<std::string> wanting_restart(const Configuration& from, const Configuration& to) {
  std::vector<std::string> names;
  if (from.ring_bytes != to.ring_bytes) names.emplace_back("ring-bytes");
  if (from.memory_bytes != to.memory_bytes) names.emplace_back("memory-bytes");
  if (from.linger_s != to.linger_s) names.emplace_back("linger");
  if (from.fast_nops != to.fast_nops) names.emplace_back("fast-nops");
  if (from.emulate != to.emulate) names.emplace_back("emulate");
  if (!is_same(from.quota, to.quota)) names.emplace_back("quota");
  return names;
}

std::string comma_list(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

}  // namespace

Result<Configuration> ConfigurationSource::read() const {
  if (auto good = check_asked(command_line); !good) return good.error().in("the command line");
  const auto file = asked_in_file(*this);
  if (!file) return file.error();
  Configuration configuration;
  take_over(configuration, *file);
  take_over(configuration, command_line);
  return configuration;
}

std::string LiveConfiguration::take(const Result<Configuration>& read) {
  if (!read) {
    log_error("the configuration stays as it was: {}", read.error().message);
    return "the configuration stays as it was: " + read.error().message;
  }
  in_force_.verbose = read->verbose;
  set_log_verbose(read->verbose);
  in_force_.dumps = read->dumps;
  dumps_.move_to(read->dumps);
  const std::string waiting = comma_list(wanting_restart(in_force_, *read));
  if (!waiting.empty())
    log_warning("the configuration was read; needs a restart: {}", waiting);
  else
    log_info("the configuration was read");
  return "configuration read" + (waiting.empty() ? "" : "; needs a restart: " + waiting);
}

}  // namespace tracectl
