// SPDX-License-Identifier: BSD-2-Clause
//
// The engine: sessions, their drafts, commits and results. Only one thread at a time may use it (the
// control thread), which serves as the writer's lock. Events arrive on the reader's thread.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "daemon/base/result.h"
#include "daemon/finding/resolver.h"
#include "daemon/kernel/kernel.h"
#include "daemon/model/quota.h"
#include "daemon/sessions/awaiting.h"
#include "daemon/sessions/budgets.h"
#include "daemon/sessions/commits.h"
#include "daemon/sessions/counting.h"
#include "daemon/sessions/drafts.h"
#include "daemon/sessions/following.h"
#include "daemon/sessions/gates.h"
#include "daemon/sessions/graph_growth.h"
#include "daemon/sessions/info.h"
#include "daemon/sessions/quotas.h"
#include "daemon/sessions/restoring.h"
#include "daemon/sessions/saving.h"
#include "daemon/sessions/session_notices.h"
#include "daemon/sessions/session_proofs.h"
#include "daemon/sessions/sessions.h"
#include "daemon/sessions/streams.h"
#include "daemon/sessions/switches.h"
#include "daemon/stream/reader.h"
#include "daemon/switching/hooks.h"
#include "daemon/switching/slots.h"

namespace tracectl {

struct EngineOptions {
  size_t ring_bytes =
      default_ring_bytes(possible_cpus());  // of each CPU and session; a power of two
  // How long a site stays armed after its last session has dropped it, so that a session that wants it
  // again needs only the switch. Sites with a semaphore do not linger.
  uint64_t linger_ns = 0;
  // The bound of the daemon's own memory. Beyond it, users get nothing new.
  size_t memory_bytes = size_t{3} << 30;
  Quota quota = {};  // of each user who may not trace every process
  // The caller takes notices and calls follow(), so sessions can wait for files that processes map later.
  bool awaits_libraries = false;
  bool for_one_command = false;  // as in KernelOptions, and with it
};

class Engine {
 public:
  // `reading` reads files; without one this process does.
  static Result<std::unique_ptr<Engine>> start(std::unique_ptr<Kernel> kernel,
                                               const EngineOptions& options,
                                               std::unique_ptr<Reading> reading = nullptr,
                                               DescriptorStore* store = nullptr);
  ~Engine();

  // Resumes the saved sessions of a former daemon with the settings that were in force, all by one switch: no hit is
  // missed or counted twice. Disarms all else that it had armed. Call it once, before anything else. The answers are in
  // the order of the sessions; Code::not_found for a session of which only the settings are left.
  std::vector<Status> restore(std::vector<Returning> sessions);

  Result<Resolution> list(const std::vector<Pattern>& patterns, const Target& target,
                          const Access& access, const Wanted& wanted = {});
  // The settings of armed probes whose names match the pattern.
  std::vector<ProbeSettingInfo> info(
      const Pattern& pattern, const std::function<bool(const std::string& session)>& of =
                                  [](const auto&) { return true; }) const;

  // An empty `name` gives the session a name of its own. `budget` is what its hits may cost, in percent of one
  // CPU; none: no bound. `owner` is the user whose processes it may see; none: it sees every process. The next
  // engine resumes a `saved` session, without a gap if there is a store.
  Result<const Session*> create_session(const std::string& name,
                                        std::optional<double> budget = std::nullopt,
                                        const std::optional<Owner>& owner = std::nullopt,
                                        bool saved = false);
  // Gives the session a file in which it may look for probes, and trace them.
  Status give_file(const std::string& session, Fd fd, const std::string& path,
                   const std::string& debug_of = "");
  // Removes all settings of the session, and its results.
  Result<SwitchSummary> delete_session(const std::string& name);

  // ---- the parts of the engine ----
  const Sessions& sessions() const { return sessions_; }
  Drafts& drafts() { return drafts_; }
  Commits& commits() { return commits_; }
  Gates& gates() { return gates_; }
  Counting& counting() { return counting_; }
  Streams& streams() { return streams_; }
  SessionProofs& proofs() { return proofs_; }
  SessionNotices& notices() { return notices_; }
  GraphGrowth& graph_growth() { return graph_growth_; }
  Awaiting& awaiting() { return awaiting_; }
  Following& following() { return following_; }
  Budgets& budgets() { return budgets_; }
  Switches& switches() { return switches_; }
  const Slots& slots() const { return slots_; }
  // A request begins with resolver().begin(). One that fails while reading().awaited() has a file has changed
  // nothing, and must be repeated.
  Resolver& resolver() { return resolver_; }
  Reading& reading() { return *reading_; }
  Kernel& kernel() { return *kernel_; }
  const EngineOptions& options() const { return options_; }

 private:
  Engine(std::unique_ptr<Kernel> kernel, std::unique_ptr<Symbolizer> symbolizer,
         std::unique_ptr<EventReader> reader, std::unique_ptr<Reading> reading,
         const EngineOptions& options, DescriptorStore* store);
  Access access_of(const Session& session, const std::optional<Owner>& owner);

  EngineOptions options_;
  std::unique_ptr<Kernel> kernel_;
  std::unique_ptr<Symbolizer> symbolizer_;
  std::unique_ptr<EventReader> reader_;  // ends before the kernel it reads from
  std::unique_ptr<Reading> reading_;
  Resolver resolver_;
  Slots slots_;
  Hooks hooks_;
  Linkers linkers_;
  Sessions sessions_;
  Saving saving_;
  Quotas quotas_;
  Switches switches_;
  Gates gates_;
  Budgets budgets_;
  Streams streams_;
  Awaiting awaiting_;
  Commits commits_;
  Drafts drafts_;
  GraphGrowth graph_growth_;
  Following following_;
  SessionProofs proofs_;
  SessionNotices notices_;
  Counting counting_;
  std::optional<Restoring> restoring_;  // until restore()
};

}  // namespace tracectl
