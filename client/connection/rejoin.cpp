// SPDX-License-Identifier: BSD-2-Clause
#include "client/connection/rejoin.h"

#include <fmt/format.h>
#include <sys/socket.h>

#include <algorithm>
#include <climits>
#include <utility>

namespace tracectl {
namespace {

constexpr int kFirstPauseMs = 20, kLongestPauseMs = 1000;

}  // namespace

template <class Request>
Rejoin<Request>::Rejoin(const std::string& socket, const Request& request, Waiter& waiter,
                        double patience_s)
    : socket_(socket),
      request_(request),
      waiter_(waiter),
      patience_s_(patience_s),
      until_(Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                std::chrono::duration<double>(patience_s))) {}

template <class Request> Result<std::optional<Ended>> Rejoin<Request>::run(Backend& backend) {
  for (int pause_ms = kFirstPauseMs;; pause_ms = std::min(2 * pause_ms, kLongestPauseMs)) {
    auto joined = attempt(backend);
    if (joined || is_refused_) return joined;
    if (left_ms() == 0)
      return Error{joined.error().code,
                   fmt::format("{}; tried for {:g} s", joined.error().message, patience_s_)};
    auto ended = waiter_.wait(-1, std::min(pause_ms, left_ms()));
    if (!ended || *ended) return ended;
  }
}

template <class Request> Result<std::optional<Ended>> Rejoin<Request>::attempt(Backend& backend) {
  auto connection = Connection::open(socket_, SOCK_NONBLOCK);
  if (!connection) return connection.error();
  if (auto asked = connection->ask(request_); !asked) return asked.error();
  auto ended = waiter_.wait(connection->fd(), left_ms());
  if (!ended || *ended) return ended;
  if (left_ms() == 0) return Error{Code::exhausted, "the daemon does not answer"};
  auto subscribed = connection->template answer_to<Request>();
  is_refused_ = !subscribed && !connection->is_closed();
  if (!subscribed) return subscribed.error();
  backend.go_on_with(std::move(*connection));
  return std::optional<Ended>{};
}

template <class Request> int Rejoin<Request>::left_ms() const {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(until_ - Clock::now()).count();
  return static_cast<int>(std::clamp<int64_t>(left, 0, INT_MAX));
}

template class Rejoin<protocol::SessionSubscribe>;
template class Rejoin<protocol::SessionShow>;
template class Rejoin<protocol::SessionList>;

}  // namespace tracectl
