// SPDX-License-Identifier: BSD-2-Clause
//
// The engine: sessions, their drafts, commits and results. Used by one thread at a time (the
// control thread): that is the one writer's lock. Events arrive on the reader's thread.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "daemon/base/result.h"
#include "daemon/events/reader.h"
#include "daemon/kernel/kernel.h"
#include "daemon/trace/commit.h"
#include "daemon/trace/coverage.h"
#include "daemon/trace/hooks.h"
#include "daemon/trace/resolver.h"
#include "daemon/trace/session.h"
#include "daemon/trace/slots.h"

namespace tracectl {

struct EngineOptions {
  size_t ring_bytes = 8 << 20;  // of each CPU and session; a power of two
};

struct StageSummary {
  size_t settings = 0, probes = 0, sites = 0;
  std::vector<Refusal> refused;
  std::vector<std::string> notes;
};

struct CommitOptions {
  bool partial = false;  // leave refused sites out instead of failing
  bool dry_run = false;
};

struct CommitSummary {
  uint64_t epoch = 0;
  size_t probes = 0, sites = 0;
  size_t added = 0, updated = 0, removed = 0;
  std::vector<Refusal> refused;
  std::vector<std::string> notes;
  Phases phases;
};

struct ProbeSettingInfo {
  std::string probe;
  std::string session;
  Setting setting;
  size_t sites = 0;
  uint64_t epoch = 0;
  uint64_t hits = 0;
};

struct EngineStats {
  uint64_t commits = 0, failed_commits = 0, waits = 0;
};

class Engine {
 public:
  static Result<std::unique_ptr<Engine>> start(std::unique_ptr<Kernel> kernel,
                                               const EngineOptions& options);
  ~Engine();

  Result<Resolution> list(const std::vector<Pattern>& patterns, const Target& target);
  // What is set on armed probes whose names fit the pattern.
  std::vector<ProbeSettingInfo> info(const Pattern& pattern) const;

  // `name` empty: an unnamed session gets one of its own.
  Result<const Session*> create_session(const std::string& name);
  Result<const Session*> session(const std::string& name) const;
  std::vector<const Session*> sessions() const;
  // Removes all its settings, and its results.
  Status delete_session(const std::string& name);

  // Resolves as the commit will, so that the answer says what the draft covers.
  Result<StageSummary> stage_set(const std::string& session, std::vector<Setting> settings);
  Result<StageSummary> stage_remove(const std::string& session,
                                    const std::vector<Pattern>& patterns,
                                    const std::optional<Target>& target);
  Status stage_abort(const std::string& session);
  Result<CommitSummary> commit(const std::string& session, const CommitOptions& options);

  // `clear`: read and zero in one cut, by a small commit.
  Result<Results> read(const std::string& session, bool clear);
  Totals totals(const Session& session) const;
  Result<uint64_t> flush(const std::string& session);
  Status subscribe(const std::string& session, std::shared_ptr<EventSink> sink);
  void unsubscribe(const std::string& session, const EventSink* sink);

  uint64_t epoch() const { return kernel_->epoch(); }
  const Slots& slots() const { return slots_; }
  const EngineStats& stats() const { return stats_; }
  ReaderStats reader_stats() const { return reader_->stats(); }
  const EngineOptions& options() const { return options_; }
  size_t rings_open() const;

 private:
  Engine(std::unique_ptr<Kernel> kernel, std::unique_ptr<EventReader> reader,
         const EngineOptions& options);
  Result<Session*> find(const std::string& name);
  Status ensure_rings(Session& session, const Coverage& coverage);
  Status open_rings(Session& session);
  Result<CommitSummary> dry_run(const Session& session, const Coverage& coverage,
                                const CommitOptions& options) const;
  Result<CommitSummary> apply(Session& session, const std::vector<Setting>& settings,
                              Coverage coverage, const CommitOptions& options);
  Result<Results> read_and_clear(Session& session);
  void count_commit();

  EngineOptions options_;
  std::unique_ptr<Kernel> kernel_;
  std::unique_ptr<EventReader> reader_;  // ends before the kernel it reads from
  Resolver resolver_;
  Slots slots_;
  Hooks hooks_;
  IdPool session_ids_{0, TC_MAX_SESSIONS};
  std::map<std::string, Session> sessions_;
  uint64_t unnamed_made_ = 0;
  EngineStats stats_;
};

}  // namespace tracectl
