// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/control/common_commits.h"

#include <utility>
#include <vector>

namespace tracectl {

Result<std::unique_ptr<CommonCommits>> CommonCommits::start(EventLoop& loop, Engine& engine,
                                                            Commands& commands,
                                                            Connections& connections,
                                                            ServerCounts& counts, Settle settle) {
  std::unique_ptr<CommonCommits> commits{
      new CommonCommits(engine, commands, connections, counts, std::move(settle))};
  auto made = assign(commits->committing_, loop.later([all = commits.get()] { all->commit(); }));
  if (!made) return made.error();
  return commits;
}

void CommonCommits::add(ClientConnection& connection, AskedCommit asked) {
  connection.commit = std::move(asked);
  committing_.ask();
}

void CommonCommits::take_read() {
  bool any = false;
  for (ClientConnection& one : connections_) {
    if (!one.commit_awaits || !engine_.reading().is_answered(*one.commit_awaits)) continue;
    one.commit_awaits.reset();
    any = true;
  }
  if (any) committing_.ask();
}

// Runs after everything that has come by now has been read.
void CommonCommits::commit() {
  std::vector<Connections::iterator> asking;
  std::vector<StageCommands::CommitRequestOf> requests;
  for (auto at = connections_.begin(); at != connections_.end(); ++at) {
    if (!at->commit || at->commit_awaits) continue;
    asking.push_back(at);
    requests.push_back({&at->commit->request, &at->peer});
  }
  if (asking.empty()) return;
  if (!learned_) learned_ = std::make_shared<Learned>();
  engine_.resolver().begin(learned_);
  const auto done = commands_.stage().commit(requests);
  const auto awaited = engine_.reading().awaited();
  if (!awaited) learned_.reset();
  for (size_t i = 0; i < asking.size(); ++i) {
    if (!done[i] && awaited) {
      asking[i]->commit_awaits = awaited;
      settle_(asking[i]);
      continue;
    }
    asking[i]->put(reply_to(*asking[i]->commit, done[i]), counts_);
    asking[i]->commit.reset();
    settle_(asking[i]);
  }
}

}  // namespace tracectl
