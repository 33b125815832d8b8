// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <sys/types.h>

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "daemon/base/fd.h"
#include "daemon/base/result.h"
#include "daemon/control/stage_request.h"
#include "daemon/protocol/messages.h"
#include "daemon/sessions/engine.h"

namespace tracectl {

// The client of a connection, for as long as that lasts.
struct Peer {
  uid_t uid = 0;
  pid_t pid = 0;
  std::optional<Owner> owner = {};  // none: it may trace every process
  // Makes the sink that sends a session's events to this peer, in the form it asked for. Fails if its user
  // has no memory left for one.
  std::function<Result<std::shared_ptr<HitSink>>(const protocol::SessionSubscribe&)> make_sink;
  // Sends what waits in its sinks before the next answer. To be called before one of them ends.
  std::function<void()> take_rest = [] {};
  // Fails if the matches held by its user's unanswered requests are at their limit. Empty: there is no limit.
  std::function<Status()> check_matches = {};
  std::map<std::string, std::shared_ptr<HitSink>> subscriptions;  // by session
  std::set<std::string> unnamed_sessions;                         // end with the connection
  // Received, and not yet taken by a request; the oldest first.
  std::deque<Fd> descriptors;
};

// Whether the peer may make requests about the session. A peer that may trace every process may, and so may the
// session's own user with all rights that it had when the session was made.
bool may_use(const Peer& peer, const Session& session);
// Why the peer may not; none if it may. Others learn only that the session exists. None if there is no session of
// that name: the request itself then fails with that.
std::optional<Error> why_not(const Peer& peer, const Sessions& sessions,
                             const std::string& session);

// Takes the oldest `count` descriptors; fails if fewer came. `of` says in the error what files they should be.
Result<std::vector<Fd>> take_descriptors(Peer& peer, size_t count, const char* of);
// Takes descriptors of the memory of processes. `proofs`: how many the request says it has.
Result<std::vector<Fd>> take_proofs(Peer& peer, uint64_t proofs);

// Takes a descriptor for each path and passes both to `give`, with the build id of the files whose debug file it is.
template <class Give>
Status give_files(Peer& peer, const std::vector<std::string>& paths,
                  const std::vector<protocol::DebugFilePart>& debug_files, const Give& give) {
  auto files = take_descriptors(peer, paths.size(), "to look for probes in");
  if (!files) return in_field(files.error(), "files");
  for (size_t i = 0; i < paths.size(); ++i)
    if (auto given = give(std::move((*files)[i]), paths[i], ""); !given) return given;
  auto debug = take_descriptors(peer, debug_files.size(), "with debug information");
  if (!debug) return in_field(debug.error(), "debug_files");
  for (size_t i = 0; i < debug_files.size(); ++i)
    if (auto given = give(std::move((*debug)[i]), debug_files[i].path, debug_files[i].build_id);
        !given)
      return in_field(given.error(), "debug_files");
  return ok();
}

}  // namespace tracectl
