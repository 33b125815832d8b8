// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/control/dispatch.h"

#include <map>

#include "daemon/protocol/codec.h"

namespace tracectl {
namespace {

using namespace protocol;

using Handler = Reply (*)(const Call&, Commands&, Peer&);

template <class Request> Reply handle(const Call& call, Commands& commands, Peer& peer) {
  auto request = from_json<Request>(call.params);
  if (!request) return {error_line(invalid_params(call, request.error())), true};
  auto reply = commands.handle(*request, peer);
  if (!reply) return {error_line(call.id, reply.error()), true};
  return {reply_line(call.id, to_json(*reply)), false};
}

template <class... Requests>
std::map<std::string_view, Handler> make_table(RequestList<Requests...>) {
  return {{Requests::kMethod, handle<Requests>}...};
}

}  // namespace

Reply dispatch(std::string_view line, Commands& commands, Peer& peer) {
  static const auto table = make_table(AllRequests{});
  const auto parsed = parse_call(line);
  if (const auto* refusal = std::get_if<protocol::Refusal>(&parsed))
    return {error_line(*refusal), true};
  const Call& call = std::get<Call>(parsed);
  const auto handler = table.find(call.method);
  if (handler == table.end()) return {error_line(unknown_method(call)), true};
  if (peer.uid != 0)
    return {error_line(call.id, Error{Code::denied,
                                      "tracing is for root: this daemon serves no other user"}),
            true};
  return handler->second(call, commands, peer);
}

}  // namespace tracectl
