// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/control/dispatch.h"

#include <map>
#include <new>

#include "daemon/control/parts.h"
#include "daemon/control/request_limits.h"
#include "daemon/protocol/codec.h"
#include "daemon/protocol/methods.h"

namespace tracectl {
namespace {

using namespace protocol;

using Handler = Answered (*)(const Call&, Commands&, Peer&);

Reply reply_of(const Method& method, const Json& id, const void* reply) {
  return {reply_line(id, codec::write(method.reply(), reply)), false};
}

template <class Request>
Reply reply_to(const Json& id, const Result<typename Request::Reply>& done) {
  if (!done) return {error_line(id, done.error()), true};
  return reply_of(method_of<Request>(), id, &*done);
}

// The session that a request names; none if it names none or means all.
template <class Request> std::optional<std::string> session_of(const Request& request) {
  if constexpr (requires { request.session; }) return request.session;
  return std::nullopt;
}

template <class Request, class... Changing> constexpr bool is_one_of() {
  return (std::is_same_v<Request, Changing> || ...);
}

// Requests that change what is saved of a session for the next daemon. Commits save it themselves.
template <class Request>
constexpr bool kChangesSession =
    is_one_of<Request, SessionDelete, StageSet, StageRemove, StageGrow, StageJoin, StageAbort,
              SessionPause, SessionResume, SessionRestart>();

// Requests whose answers can list many thousand items.
template <class Request>
constexpr bool kCanBeLong = is_one_of<Request, SessionList, SessionShow, DaemonTop>();

// `make` returns the answer; any thread may call it.
template <class Request, class Make> Unwritten to_be_written(const Call& call, Make make) {
  return {[id = call.id, make = std::move(make)]() -> Reply {
    try {
      return reply_to<Request>(id, make());
    } catch (const std::bad_alloc&) {
      return {error_line(id, out_of_memory()), true};
    }
  }};
}

// `found`: the data of the answer.
template <class Request, class Found> Answered written_of(const Call& call, Result<Found> found) {
  if (!found) return Reply{error_line(call.id, found.error()), true};
  auto held = std::make_shared<const Found>(std::move(*found));
  return to_be_written<Request>(
      call, [held] { return Result<typename Request::Reply>{tracectl::reply_of(*held)}; });
}

// Requests that free memory, or report how much there is.
template <class Request>
constexpr bool kNeedsNoMemory =
    is_one_of<Request, Hello, DaemonStatus, DaemonStats, SessionDelete, SessionPause,
              SessionUnsubscribe, SessionFlush, StageRemove, StageAbort, RecordStop>();

template <class Request>
Answered do_now(const Call& call, const Request& request, Commands& commands, Peer& peer) {
  auto done = commands.handle(request, peer);
  if (kChangesSession<Request> && done) commands.saved().save_changes();
  if constexpr (kCanBeLong<Request>)
    if (done) {
      auto held = std::make_shared<const Result<typename Request::Reply>>(std::move(done));
      return to_be_written<Request>(
          call, [held]() -> const auto& { return *held; });
    }
  return reply_to<Request>(call.id, done);
}

// Checks here, for all methods, whether the peer may use the session.
template <class Request> Answered handle(const Call& call, Commands& commands, Peer& peer) {
  Request request;
  if (auto read = codec::read(call.params, method_of<Request>().request(), &request); !read)
    return Reply{error_line(invalid_params(call, read.error())), true};
  if (const auto session = session_of(request))
    if (auto why_not = commands.why_not(peer, *session))
      return Reply{error_line(call.id, *why_not), true};
  if (!kNeedsNoMemory<Request>)
    if (auto within = commands.check_memory(peer); !within)
      return Reply{error_line(call.id, within.error()), true};
  if constexpr (std::is_same_v<Request, StageCommit>)
    return AskedCommit{call, std::move(request)};
  else if constexpr (std::is_same_v<Request, SessionFlush>)
    return AskedFlush{call, std::move(request)};
  else if constexpr (std::is_same_v<Request, ProbeList>)
    return written_of<ProbeList>(call, commands.probes().list(request, peer));
  else if constexpr (std::is_same_v<Request, ProbeInfo>)
    return written_of<ProbeInfo>(call, commands.probes().info(request, peer));
  else if constexpr (std::is_same_v<Request, SessionRead>)
    return written_of<SessionRead>(call, commands.results().read(request));
  else
    return do_now(call, request, commands, peer);
}

template <class... Requests>
std::map<std::string_view, Handler> make_table(RequestList<Requests...>) {
  return {{Requests::kMethod, handle<Requests>}...};
}

}  // namespace

Reply reply_to(const AskedCommit& asked, const Result<CommitReply>& done) {
  return reply_to<StageCommit>(asked.call.id, done);
}

Reply reply_to(const AskedFlush& asked, const Result<FlushReply>& done) {
  return reply_to<SessionFlush>(asked.call.id, done);
}

bool asks_for_status(std::string_view line) {
  const auto parsed = parse_call(line);
  const auto* call = std::get_if<Call>(&parsed);
  return call && call->method == DaemonStatus::kMethod;
}

Answered dispatch(std::string_view line, Commands& commands, Peer& peer, const Status& room) {
  static const auto table = make_table(AllRequests{});
  const auto parsed = parse_call(line);
  if (const auto* refusal = std::get_if<protocol::RefusedCall>(&parsed))
    return Reply{error_line(*refusal), true};
  const Call& call = std::get<Call>(parsed);
  const auto handler = table.find(call.method);
  if (handler == table.end()) return Reply{error_line(unknown_method(call)), true};
  if (!room) return Reply{error_line(call.id, room.error()), true};
  try {
    return handler->second(call, commands, peer);
  } catch (const std::bad_alloc&) {
    return Reply{error_line(call.id, out_of_memory()), true};
  }
}

}  // namespace tracectl
