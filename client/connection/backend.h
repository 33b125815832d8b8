// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string_view>
#include <variant>

#include "client/connection/connection.h"
#include "client/options/options.h"
#include "daemon/control/local_engine.h"

namespace tracectl {

// Sends requests to the daemon, or to an engine in this process.
class Backend {
 public:
  // Requests whose effects outlive this command need a daemon.
  enum class Needs { any_engine, daemon };

  struct Failure {
    Error error;
    ExitStatus status;
  };
  explicit Backend(Connection daemon) : to_(std::move(daemon)) {}
  explicit Backend(std::unique_ptr<LocalEngine> engine) : to_(std::move(engine)) {}
  static std::variant<Backend, Failure> open(const CommonOptions& options, Needs needs);

  template <class Request> Result<typename Request::Reply> call(const Request& request) {
    if (auto* connection = std::get_if<Connection>(&to_)) return connection->call(request);
    return std::get<std::unique_ptr<LocalEngine>>(to_)->call(request);
  }

  // The files are sent with the request, and still belong to the caller.
  template <class Request>
  Result<typename Request::Reply> call_with(const Request& request, std::span<const int> files) {
    if (auto* connection = std::get_if<Connection>(&to_))
      return connection->call_with(request, files);
    return std::get<std::unique_ptr<LocalEngine>>(to_)->call_with(request, files);
  }

  // Readable when events of subscribed sessions have arrived.
  int events_fd() const;
  // Calls `use` with what has arrived: the events of the engine in this process, or the daemon's notifications, as lines.
  // Both are valid during the call only.
  using Arrival = std::variant<const Arrived*, std::string_view>;
  Status take_arrived(const std::function<Status(const Arrival&)>& use);
  // The engine ends with this process, and its sessions, too.
  bool is_embedded() const { return !std::holds_alternative<Connection>(to_); }
  // The daemon has closed the connection, and a call has noticed it.
  bool is_closed() const;
  // Replaces the backend by another daemon.
  void go_on_with(Connection connection) { to_.emplace<Connection>(std::move(connection)); }

 private:
  std::variant<Connection, std::unique_ptr<LocalEngine>> to_;
};

}  // namespace tracectl
