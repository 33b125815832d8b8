// SPDX-License-Identifier: BSD-2-Clause
//
// Every method of the protocol: one struct in, one struct out. Each struct lists its members once,
// in `fields`; the reader, the writer and the JSON Schema are all made from that list (codec.h).
//
// A member is required in a request unless it is a std::optional, or is listed with f.optional(...),
// in which case the default stands. Replies carry every member but empty std::optionals.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace tracectl::protocol {

struct Empty {
  template <class Self, class F> static void fields(Self&, F&&) {}
};

// ---- parts ----

// In which processes. Exactly what Target of the model says; none chosen is allowed for listing by path.
struct TargetPart {
  std::vector<int64_t> pids;
  std::vector<std::string> executables;  // absolute paths
  bool all = false;
  // For one process in `pids` that waits before its execve: what it is going to map, absolute
  // paths, its executable first. tracectl -- COMMAND makes this.
  std::vector<std::string> will_map;
  template <class Self, class F> static void fields(Self& s, F&& f) {
    f.optional("pids", s.pids);
    f.optional("executables", s.executables);
    f.optional("all", s.all);
    f.optional("will_map", s.will_map);
  }
};

struct SitePart {
  std::string object;        // path of the ELF file
  std::string build_id;      // hex, empty if the file has none
  uint64_t offset = 0;       // of the probed instruction, in the file
  uint64_t moved_bytes = 0;  // how far behind the function's start (or the named offset) it sits
  std::string cost;          // "fast", "normal", "slow"; the class of this site
  std::optional<uint64_t> semaphore;  // offset in the file
  template <class Self, class F> static void fields(Self& s, F&& f) {
    f("object", s.object);
    f("build_id", s.build_id);
    f("offset", s.offset);
    f("moved_bytes", s.moved_bytes);
    f("cost", s.cost);
    f("semaphore", s.semaphore);
  }
};

struct ArgumentPart {
  std::string name;   // arg0...
  std::string type;   // "s32", "u64", "f64"
  std::string place;  // as in the note: -4@112(%rsp); for functions the register
  bool readable = true;
  template <class Self, class F> static void fields(Self& s, F&& f) {
    f("name", s.name);
    f("type", s.type);
    f("place", s.place);
    f("readable", s.readable);
  }
};

struct ProbePart {
  std::string probe;  // canonical name
  std::string cost;   // the dearest class of its sites
  std::optional<std::string> demangled;
  std::vector<SitePart> sites;
  std::vector<ArgumentPart> args;  // of the first site
  template <class Self, class F> static void fields(Self& s, F&& f) {
    f("probe", s.probe);
    f("class", s.cost);
    f("demangled", s.demangled);
    f("sites", s.sites);
    f("args", s.args);
  }
};

// A probe or site that matched and is not, or will not be, armed.
struct RefusalPart {
  std::string probe;
  std::optional<uint64_t> offset;  // of the site, in the file
  std::optional<int64_t> pid;      // where the reason is one process's
  std::string reason;
  template <class Self, class F> static void fields(Self& s, F&& f) {
    f("probe", s.probe);
    f("offset", s.offset);
    f("pid", s.pid);
    f("reason", s.reason);
  }
};

// One staged setting: pattern + target + spec.
struct SettingPart {
  std::string pattern;
  std::string scope;  // "local" or "global"
  TargetPart target;
  std::string action;  // the spec, as --do takes it
  template <class Self, class F> static void fields(Self& s, F&& f) {
    f("pattern", s.pattern);
    f("scope", s.scope);
    f("target", s.target);
    f("do", s.action);
  }
};

struct SessionPart {
  std::string name;
  bool named = true;                              // false: ends with the connection that made it
  std::vector<SettingPart> settings;              // in force
  std::optional<std::vector<SettingPart>> draft;  // staged and not committed
  uint64_t epoch = 0;                             // of its last commit, 0 if none
  uint64_t probes = 0, sites = 0;                 // armed
  uint64_t hits = 0, events = 0, lost = 0;
  template <class Self, class F> static void fields(Self& s, F&& f) {
    f("name", s.name);
    f("named", s.named);
    f("settings", s.settings);
    f("draft", s.draft);
    f("epoch", s.epoch);
    f("probes", s.probes);
    f("sites", s.sites);
    f("hits", s.hits);
    f("events", s.events);
    f("lost", s.lost);
  }
};

// ---- hello ----

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

// ---- probe.list: what can be traced; arms nothing ----

struct ProbeListReply {
  std::vector<ProbePart> probes;  // sorted by name
  std::vector<RefusalPart> refused;
  uint64_t total_probes = 0, total_sites = 0;
  template <class Self, class F> static void fields(Self& s, F&& f) {
    f("probes", s.probes);
    f("refused", s.refused);
    f("total_probes", s.total_probes);
    f("total_sites", s.total_sites);
  }
};
struct ProbeList {
  static constexpr const char* kMethod = "probe.list";
  using Reply = ProbeListReply;
  std::vector<std::string> patterns;
  std::string scope = "local";
  TargetPart target;
  template <class Self, class F> static void fields(Self& s, F&& f) {
    f("patterns", s.patterns);
    f.optional("scope", s.scope);
    f.optional("target", s.target);
  }
};

// ---- probe.info: what is set on these probes ----

struct ProbeSetting {
  std::string probe;
  std::string session;
  std::string pattern;  // of the setting that holds here
  std::string action;
  TargetPart target;
  uint64_t sites = 0;
  uint64_t epoch = 0;  // under which it came into force
  uint64_t hits = 0;
  template <class Self, class F> static void fields(Self& s, F&& f) {
    f("probe", s.probe);
    f("session", s.session);
    f("pattern", s.pattern);
    f("do", s.action);
    f("target", s.target);
    f("sites", s.sites);
    f("epoch", s.epoch);
    f("hits", s.hits);
  }
};
struct ProbeInfoReply {
  std::vector<ProbeSetting> settings;
  template <class Self, class F> static void fields(Self& s, F&& f) { f("settings", s.settings); }
};
struct ProbeInfo {
  static constexpr const char* kMethod = "probe.info";
  using Reply = ProbeInfoReply;
  std::string pattern;  // compared with the names of armed probes
  std::string scope = "local";
  template <class Self, class F> static void fields(Self& s, F&& f) {
    f("pattern", s.pattern);
    f.optional("scope", s.scope);
  }
};

// ---- session.* ----

struct SessionCreate {
  static constexpr const char* kMethod = "session.create";
  using Reply = SessionPart;
  std::optional<std::string> name;  // none: an unnamed session, which ends with this connection
  template <class Self, class F> static void fields(Self& s, F&& f) { f("name", s.name); }
};
struct SessionListReply {
  std::vector<SessionPart> sessions;
  template <class Self, class F> static void fields(Self& s, F&& f) { f("sessions", s.sessions); }
};
struct SessionList {
  static constexpr const char* kMethod = "session.list";
  using Reply = SessionListReply;
  template <class Self, class F> static void fields(Self&, F&&) {}
};
struct SessionShow {
  static constexpr const char* kMethod = "session.show";
  using Reply = SessionPart;
  std::string session;
  template <class Self, class F> static void fields(Self& s, F&& f) { f("session", s.session); }
};
struct SessionDelete {
  static constexpr const char* kMethod = "session.delete";
  using Reply = Empty;
  std::string session;
  template <class Self, class F> static void fields(Self& s, F&& f) { f("session", s.session); }
};

// ---- stage.* ----

// What a pattern covers, as far as it can be known before the commit.
struct StageReply {
  uint64_t settings = 0;  // in the draft now
  uint64_t probes = 0, sites = 0;
  std::vector<RefusalPart> refused;
  std::vector<std::string> notes;
  template <class Self, class F> static void fields(Self& s, F&& f) {
    f("settings", s.settings);
    f("probes", s.probes);
    f("sites", s.sites);
    f("refused", s.refused);
    f("notes", s.notes);
  }
};
struct StageSet {
  static constexpr const char* kMethod = "stage.set";
  using Reply = StageReply;
  std::string session;
  std::vector<std::string> patterns;
  std::string scope = "local";
  TargetPart target;
  std::string action = "event";
  template <class Self, class F> static void fields(Self& s, F&& f) {
    f("session", s.session);
    f("patterns", s.patterns);
    f.optional("scope", s.scope);
    f("target", s.target);
    f.optional("do", s.action);
  }
};
// Takes settings with these patterns (and, if one is given, this target) out of the draft.
struct StageRemove {
  static constexpr const char* kMethod = "stage.remove";
  using Reply = StageReply;
  std::string session;
  std::vector<std::string> patterns;
  std::string scope = "local";
  std::optional<TargetPart> target;
  template <class Self, class F> static void fields(Self& s, F&& f) {
    f("session", s.session);
    f("patterns", s.patterns);
    f.optional("scope", s.scope);
    f("target", s.target);
  }
};

struct PhasesPart {  // microseconds
  uint64_t stage = 0, arm = 0, wait = 0, switch_ = 0, disarm = 0;
  template <class Self, class F> static void fields(Self& s, F&& f) {
    f("stage", s.stage);
    f("arm", s.arm);
    f("wait", s.wait);
    f("switch", s.switch_);
    f("disarm", s.disarm);
  }
};
struct CommitReply {
  uint64_t epoch = 0;
  uint64_t probes = 0, sites = 0;                // of the session, armed now
  uint64_t added = 0, updated = 0, removed = 0;  // sites
  std::vector<RefusalPart> refused;              // with `partial`: what was left out
  std::vector<std::string>
      notes;  // what the user should know: a library not covered in later processes...
  PhasesPart phases_us;
  template <class Self, class F> static void fields(Self& s, F&& f) {
    f("epoch", s.epoch);
    f("probes", s.probes);
    f("sites", s.sites);
    f("added", s.added);
    f("updated", s.updated);
    f("removed", s.removed);
    f("refused", s.refused);
    f("notes", s.notes);
    f("phases_us", s.phases_us);
  }
};
struct StageCommit {
  static constexpr const char* kMethod = "stage.commit";
  using Reply = CommitReply;
  std::string session;
  bool partial = false;  // leave refused sites out instead of failing
  bool dry_run = false;  // resolve and check everything, arm nothing; epoch and phases are 0
  template <class Self, class F> static void fields(Self& s, F&& f) {
    f("session", s.session);
    f.optional("partial", s.partial);
    f.optional("dry_run", s.dry_run);
  }
};
struct StageAbort {
  static constexpr const char* kMethod = "stage.abort";
  using Reply = Empty;
  std::string session;
  template <class Self, class F> static void fields(Self& s, F&& f) { f("session", s.session); }
};

// ---- results ----

struct ByPart {
  std::optional<int64_t> pid, tid;
  template <class Self, class F> static void fields(Self& s, F&& f) {
    f("pid", s.pid);
    f("tid", s.tid);
  }
};
struct RowPart {
  std::string probe;
  std::optional<ByPart> by;
  uint64_t count = 0;
  template <class Self, class F> static void fields(Self& s, F&& f) {
    f("probe", s.probe);
    f("by", s.by);
    f("count", s.count);
  }
};
struct ReadReply {
  std::vector<RowPart> rows;  // dearest first; a probe that was never hit has a row with 0
  uint64_t epoch = 0;
  uint64_t total_hits = 0;    // hits by the targets = recorded + the drops below
  uint64_t dropped_ring = 0;  // events: no room in the ring
  uint64_t dropped_keys = 0;  // counts by a key: the table of keys was full
  template <class Self, class F> static void fields(Self& s, F&& f) {
    f("rows", s.rows);
    f("epoch", s.epoch);
    f("total_hits", s.total_hits);
    f("dropped_ring", s.dropped_ring);
    f("dropped_keys", s.dropped_keys);
  }
};
struct SessionRead {
  static constexpr const char* kMethod = "session.read";
  using Reply = ReadReply;
  std::string session;
  bool clear = false;  // read and zero in one cut
  template <class Self, class F> static void fields(Self& s, F&& f) {
    f("session", s.session);
    f.optional("clear", s.clear);
  }
};

struct FlushReply {
  uint64_t ts = 0;  // every event of the session fired before this time (ns since boot) was sent
  template <class Self, class F> static void fields(Self& s, F&& f) { f("ts", s.ts); }
};
struct SessionFlush {
  static constexpr const char* kMethod = "session.flush";
  using Reply = FlushReply;
  std::string session;
  template <class Self, class F> static void fields(Self& s, F&& f) { f("session", s.session); }
};
// After this the server sends notifications `event` and `lost` for the session on this connection.
struct SessionSubscribe {
  static constexpr const char* kMethod = "session.subscribe";
  using Reply = Empty;
  std::string session;
  template <class Self, class F> static void fields(Self& s, F&& f) { f("session", s.session); }
};
struct SessionUnsubscribe {
  static constexpr const char* kMethod = "session.unsubscribe";
  using Reply = Empty;
  std::string session;
  template <class Self, class F> static void fields(Self& s, F&& f) { f("session", s.session); }
};

// ---- daemon.* ----

struct StatusReply {
  std::string version;
  int64_t pid = 0;
  uint64_t uptime_s = 0;
  uint64_t epoch = 0;
  uint64_t sessions = 0, sites = 0, links = 0, clients = 0;
  std::string kernel;  // uname -r
  template <class Self, class F> static void fields(Self& s, F&& f) {
    f("version", s.version);
    f("pid", s.pid);
    f("uptime_s", s.uptime_s);
    f("epoch", s.epoch);
    f("sessions", s.sessions);
    f("sites", s.sites);
    f("links", s.links);
    f("clients", s.clients);
    f("kernel", s.kernel);
  }
};
struct DaemonStatus {
  static constexpr const char* kMethod = "daemon.status";
  using Reply = StatusReply;
  template <class Self, class F> static void fields(Self&, F&&) {}
};

struct StatsReply {
  uint64_t commits = 0, failed_commits = 0, waits = 0;
  uint64_t requests = 0, refused_requests = 0;
  uint64_t events_read = 0, ring_bytes_read = 0, ring_drops = 0, client_drops = 0;
  uint64_t slots_used = 0, slots_limit = 0, hooks_used = 0, hooks_limit = 0;
  uint64_t keys_limit = 0, rings_open = 0, ring_bytes_each = 0;
  template <class Self, class F> static void fields(Self& s, F&& f) {
    f("commits", s.commits);
    f("failed_commits", s.failed_commits);
    f("waits", s.waits);
    f("requests", s.requests);
    f("refused_requests", s.refused_requests);
    f("events_read", s.events_read);
    f("ring_bytes_read", s.ring_bytes_read);
    f("ring_drops", s.ring_drops);
    f("client_drops", s.client_drops);
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

struct CheckPart {
  std::string name;    // "uprobe_multi"
  std::string result;  // "yes", "no", "unknown"
  std::string found;   // what was tried and seen
  std::string means;   // for the user
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

// ---- notifications ----

// An argument's value: null where it could not be read, a string where JSON has no number for it
// ("NaN", "Infinity", "-Infinity").
using Scalar = std::variant<std::monostate, int64_t, uint64_t, double, std::string>;

struct EventNotification {
  static constexpr const char* kMethod = "event";
  uint64_t ts = 0;   // ns since boot
  std::string wall;  // RFC 3339, UTC, with nanoseconds
  uint64_t epoch = 0;
  std::string session;
  uint64_t cpu = 0;
  int64_t pid = 0, tid = 0;
  std::string comm;
  std::string probe;
  std::string kind;  // "hit"
  std::vector<Scalar> args;
  template <class Self, class F> static void fields(Self& s, F&& f) {
    f("ts", s.ts);
    f("wall", s.wall);
    f("epoch", s.epoch);
    f("session", s.session);
    f("cpu", s.cpu);
    f("pid", s.pid);
    f("tid", s.tid);
    f("comm", s.comm);
    f("probe", s.probe);
    f("kind", s.kind);
    f("args", s.args);
  }
};
struct LostNotification {
  static constexpr const char* kMethod = "lost";
  uint64_t ts = 0;  // of the first event after the loss, or of the moment it was noticed
  uint64_t count = 0;
  std::string cause;  // "ring_full" or "slow_client"
  std::optional<uint64_t> cpu;
  std::string session;
  template <class Self, class F> static void fields(Self& s, F&& f) {
    f("ts", s.ts);
    f("count", s.count);
    f("cause", s.cause);
    f("cpu", s.cpu);
    f("session", s.session);
  }
};

// ---- errors ----

struct ErrorData {
  std::string
      code;  // "invalid", "not_found", "denied", "busy", "exhausted", "unsupported", "kernel"
  std::optional<std::string> field;  // of the request, by path: target.pids[2]
  std::optional<std::string> text;   // what the user wrote there, and
  std::optional<uint64_t> column;    // the byte of it at which it went wrong
  template <class Self, class F> static void fields(Self& s, F&& f) {
    f("code", s.code);
    f("field", s.field);
    f("text", s.text);
    f("column", s.column);
  }
};
struct ErrorPart {
  int64_t code = 0;  // JSON-RPC's, or the number of data.code
  std::string message;
  ErrorData data;
  template <class Self, class F> static void fields(Self& s, F&& f) {
    f("code", s.code);
    f("message", s.message);
    f("data", s.data);
  }
};

template <class... Requests> struct RequestList {};
using AllRequests =
    RequestList<Hello, ProbeList, ProbeInfo, SessionCreate, SessionList, SessionShow, SessionDelete,
                StageSet, StageRemove, StageCommit, StageAbort, SessionRead, SessionFlush,
                SessionSubscribe, SessionUnsubscribe, DaemonStatus, DaemonStats, DaemonDoctor>;

}  // namespace tracectl::protocol
