// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/control/result_commands.h"

#include <utility>

namespace tracectl {

using namespace protocol;

Result<ReadReply> ResultCommands::handle(const SessionRead& request, Peer&) {
  auto held = read(request);
  if (!held) return held.error();
  return reply_of(*held);
}

Result<ReadResults> ResultCommands::read(const SessionRead& request) {
  auto summary = engine_.counting().read(request.session, request.clear);
  if (!summary) return summary.error();
  ReadResults results{std::move(*summary), std::nullopt};
  if (const auto session = engine_.sessions().find(request.session); session && (*session)->budget)
    results.left_out = (*session)->budget->left_out;
  return results;
}

Result<FlushReply> ResultCommands::handle(const SessionFlush& request, Peer&) {
  auto flushed = engine_.streams().flush(request.session);
  if (!flushed) return flushed.error();
  return FlushReply{*flushed};
}

Result<Empty> ResultCommands::handle(const SessionSubscribe& request, Peer& peer) {
  if (peer.subscriptions.contains(request.session))
    return Error{Code::busy, "this connection is subscribed to \"" + request.session + "\" already",
                 "session"};
  auto sink = peer.make_sink(request);
  if (!sink) return sink.error();
  auto subscribed = engine_.streams().subscribe(request.session, *sink);
  if (!subscribed) return subscribed.error();
  peer.subscriptions.emplace(request.session, std::move(*sink));
  return Empty{};
}

Result<Empty> ResultCommands::handle(const SessionUnsubscribe& request, Peer& peer) {
  const auto found = peer.subscriptions.find(request.session);
  if (found == peer.subscriptions.end())
    return Error{Code::not_found,
                 "this connection is not subscribed to \"" + request.session + "\"", "session"};
  engine_.streams().unsubscribe(request.session, found->second.get());
  peer.take_rest();
  peer.subscriptions.erase(found);
  return Empty{};
}

}  // namespace tracectl
