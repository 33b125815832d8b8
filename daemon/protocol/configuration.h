// SPDX-License-Identifier: BSD-2-Clause
//
// The text of the daemon's configuration file: tracectld.json(5).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "daemon/base/result.h"
#include "daemon/protocol/json.h"

namespace tracectl::protocol {

// The members of the model's Quota.
struct AskedQuota {
  std::optional<uint64_t> sessions, settings, sites, ring_bytes, stream_bytes, kept,
      events_per_second, patterns, matches, recording_bytes, users, most_users;
  template <class Self, class F> static void fields(Self& s, F&& f) {
    f("sessions", s.sessions);
    f("settings", s.settings);
    f("sites", s.sites);
    f("ring-bytes", s.ring_bytes);
    f("stream-bytes", s.stream_bytes);
    f("kept", s.kept);
    f("events-per-second", s.events_per_second);
    f("patterns", s.patterns);
    f("matches", s.matches);
    f("recording-bytes", s.recording_bytes);
    f("users", s.users);
    f("most-users", s.most_users);
  }
};

// The settings in a file or on a command line; those that are missing are left unchanged.
struct AskedConfiguration {
  std::optional<std::string> dumps;
  std::optional<uint64_t> ring_bytes;
  std::optional<uint64_t> memory_bytes;
  std::optional<double> linger;  // seconds
  std::optional<bool> fast_nops;
  std::optional<bool> emulate;
  std::optional<bool> verbose;
  std::optional<AskedQuota> quota;
  template <class Self, class F> static void fields(Self& s, F&& f) {
    f("dumps", s.dumps);
    f("ring-bytes", s.ring_bytes);
    f("memory-bytes", s.memory_bytes);
    f("linger", s.linger);
    f("fast-nops", s.fast_nops);
    f("emulate", s.emulate);
    f("verbose", s.verbose);
    f("quota", s.quota);
  }
};

// Parses a file that people write. If it is no JSON the error gives the line and column.
Result<Json> parse_text(std::string_view text);

// Errors give the place: the line and column of invalid JSON, or the field.
Result<AskedConfiguration> asked_configuration(std::string_view text);

}  // namespace tracectl::protocol
