// SPDX-License-Identifier: BSD-2-Clause
#include "client/connection/backend.h"

#include <unistd.h>

namespace tracectl {
namespace {

using Opened = std::variant<Backend, Backend::Failure>;

Backend::Failure no_daemon(const std::string& socket, Backend::Needs needs) {
  std::string message = "no daemon listens on " + socket;
  message += needs == Backend::Needs::daemon
                 ? "; this command needs one: start tracectld"
                 : "; start tracectld, or run this as root to trace without a daemon";
  return {Error{Code::not_found, message}, kNoDaemon};
}

Backend::Failure daemons_choice(const std::string& option) {
  return {
      Error{Code::invalid, option + " has no effect on a running daemon: start tracectld with it, "
                                    "or trace --embedded"},
      kUsage};
}

}  // namespace

Opened Backend::open(const CommonOptions& options, Needs needs) {
  if (!options.embedded) {
    auto connection = Connection::open(options.socket);
    if (connection && options.fast_nops) return daemons_choice("--fast-nops");
    if (connection && options.emulate) return daemons_choice("--emulate");
    if (connection) return Opened(std::in_place_type<Backend>, std::move(*connection));
    if (connection.error().code == Code::denied) return Failure{connection.error(), kDenied};
    if (connection.error().code != Code::not_found) return Failure{connection.error(), kFailed};
    if (needs == Needs::daemon || ::geteuid() != 0) return no_daemon(options.socket, needs);
  } else if (needs == Needs::daemon) {
    return Failure{Error{Code::invalid, "this command needs a daemon and cannot be --embedded"},
                   kUsage};
  }
  auto engine = LocalEngine::start(
      {.verbose = options.verbose, .fast_nops = options.fast_nops, .emulate = options.emulate});
  if (!engine)
    return Failure{engine.error(), engine.error().code == Code::denied ? kDenied : kFailed};
  return Opened(std::in_place_type<Backend>, std::move(*engine));
}

int Backend::events_fd() const {
  if (const auto* connection = std::get_if<Connection>(&to_)) return connection->fd();
  return std::get<std::unique_ptr<LocalEngine>>(to_)->events_fd();
}

bool Backend::is_closed() const {
  const auto* connection = std::get_if<Connection>(&to_);
  return connection && connection->is_closed();
}

Status Backend::take_arrived(const std::function<Status(const Arrival&)>& use) {
  if (auto* connection = std::get_if<Connection>(&to_)) {
    auto lines = connection->take_notifications();
    return lines ? use(std::string_view(*lines)) : Status(lines.error());
  }
  Status used = ok();
  std::get<std::unique_ptr<LocalEngine>>(to_)->take_arrived([&](const Arrived& arrived) {
    if (used) used = use(&arrived);
  });
  return used;
}

}  // namespace tracectl
