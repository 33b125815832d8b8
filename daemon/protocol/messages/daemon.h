// SPDX-License-Identifier: BSD-2-Clause
//
// The methods hello and daemon.*. The rules for these structs: daemon/protocol/messages.h.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tracectl::protocol {

struct HelloReply {
  std::string daemon;  // "tracectld"
  std::string version;
  int64_t protocol = 1;
  std::vector<std::string> methods;
  template <class Self, class F> static void fields(Self& s, F&& f) {
    f("daemon", s.daemon);
    f("version", s.version);
    f("protocol", s.protocol);
    f("methods", s.methods);
  }
};
struct Hello {
  static constexpr const char* kMethod = "hello";
  using Reply = HelloReply;
  template <class Self, class F> static void fields(Self&, F&&) {}
};

struct StatusReply {
  std::string version;
  int64_t pid = 0;
  uint64_t uptime_s = 0;
  uint64_t epoch = 0;
  uint64_t sessions = 0, sites = 0, links = 0, clients = 0;
  uint64_t lingering = 0;           // of the sites: armed, but not used by any session any more
  uint64_t memory_bytes = 0;        // resident, of the daemon's process
  uint64_t memory_limit_bytes = 0;  // beyond it, requests that need memory are refused
  std::string kernel;               // uname -r
  template <class Self, class F> static void fields(Self& s, F&& f) {
    f("version", s.version);
    f("pid", s.pid);
    f("uptime_s", s.uptime_s);
    f("epoch", s.epoch);
    f("sessions", s.sessions);
    f("sites", s.sites);
    f("lingering", s.lingering);
    f("links", s.links);
    f("clients", s.clients);
    f("memory_bytes", s.memory_bytes);
    f("memory_limit_bytes", s.memory_limit_bytes);
    f("kernel", s.kernel);
  }
};
struct DaemonStatus {
  static constexpr const char* kMethod = "daemon.status";
  using Reply = StatusReply;
  template <class Self, class F> static void fields(Self&, F&&) {}
};

struct StatsReply {
  uint64_t commits = 0, failed_commits = 0;
  uint64_t switches = 0;  // concurrent commits may share one; pauses are switches, too
  uint64_t requests = 0, refused_requests = 0;
  uint64_t events_read = 0, ring_bytes_read = 0, ring_drops = 0, client_drops = 0;
  uint64_t dumps = 0, failed_dumps = 0;  // made without a client's request
  uint64_t slots_used = 0, slots_limit = 0, hooks_used = 0, hooks_limit = 0;
  uint64_t keys_limit = 0, rings_open = 0, ring_bytes_each = 0;
  template <class Self, class F> static void fields(Self& s, F&& f) {
    f("commits", s.commits);
    f("failed_commits", s.failed_commits);
    f("switches", s.switches);
    f("requests", s.requests);
    f("refused_requests", s.refused_requests);
    f("events_read", s.events_read);
    f("ring_bytes_read", s.ring_bytes_read);
    f("ring_drops", s.ring_drops);
    f("client_drops", s.client_drops);
    f("dumps", s.dumps);
    f("failed_dumps", s.failed_dumps);
    f("slots_used", s.slots_used);
    f("slots_limit", s.slots_limit);
    f("hooks_used", s.hooks_used);
    f("hooks_limit", s.hooks_limit);
    f("keys_limit", s.keys_limit);
    f("rings_open", s.rings_open);
    f("ring_bytes_each", s.ring_bytes_each);
  }
};
struct DaemonStats {
  static constexpr const char* kMethod = "daemon.stats";
  using Reply = StatsReply;
  template <class Self, class F> static void fields(Self&, F&&) {}
};

// A probe that a session has armed, and the process if it is armed for one alone. Counted since then:
struct ProbeTotalsPart {
  std::string probe;
  std::string session;
  std::optional<int64_t> pid = {};  // none: in all targets of the session
  std::string cost;  // "fast", "normal", "emulated", "slow": the highest class of its sites
  uint64_t hits = 0;
  uint64_t lost = 0;     // events and values for which there was no room
  uint64_t cost_ns = 0;  // estimated time that the hits took from the programs
  template <class Self, class F> static void fields(Self& s, F&& f) {
    f("probe", s.probe);
    f("session", s.session);
    f("pid", s.pid);
    f("class", s.cost);
    f("hits", s.hits);
    f("lost", s.lost);
    f("cost_ns", s.cost_ns);
  }
};
struct TopReply {
  uint64_t ts = 0;  // ns since boot, at the time of reading
  std::vector<ProbeTotalsPart> probes;
  template <class Self, class F> static void fields(Self& s, F&& f) {
    f("ts", s.ts);
    f("probes", s.probes);
  }
};
// The totals of every armed probe. Two calls give its rate of hits.
struct DaemonTop {
  static constexpr const char* kMethod = "daemon.top";
  using Reply = TopReply;
  template <class Self, class F> static void fields(Self&, F&&) {}
};

struct CheckPart {
  std::string name;    // "uprobe_multi"
  std::string result;  // "yes", "no", "unknown"
  std::string found;   // the test and its outcome
  std::string means;   // the meaning for the user
  template <class Self, class F> static void fields(Self& s, F&& f) {
    f("name", s.name);
    f("result", s.result);
    f("found", s.found);
    f("means", s.means);
  }
};
struct DoctorReply {
  std::string kernel;
  std::vector<CheckPart> checks;
  template <class Self, class F> static void fields(Self& s, F&& f) {
    f("kernel", s.kernel);
    f("checks", s.checks);
  }
};
struct DaemonDoctor {
  static constexpr const char* kMethod = "daemon.doctor";
  using Reply = DoctorReply;
  template <class Self, class F> static void fields(Self&, F&&) {}
};

}  // namespace tracectl::protocol
