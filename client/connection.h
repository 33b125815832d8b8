// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <span>
#include <string>
#include <vector>

#include "daemon/base/fd.h"
#include "daemon/base/result.h"
#include "daemon/model/event.h"
#include "daemon/protocol/codec.h"
#include "daemon/protocol/frames.h"
#include "daemon/protocol/notification_reader.h"

namespace tracectl {

// A connection to the daemon. Calls wait for their answer; events that come meanwhile are kept.
class Connection {
 public:
  static Result<Connection> open(const std::string& path);

  template <class Request> Result<typename Request::Reply> call(const Request& request) {
    return call_with(request, {});
  }
  // With descriptors, which stay the caller's.
  template <class Request>
  Result<typename Request::Reply> call_with(const Request& request,
                                            std::span<const int> descriptors) {
    auto answer = exchange(Request::kMethod, protocol::to_json(request), descriptors);
    if (!answer) return answer.error();
    return protocol::from_json<typename Request::Reply>(*answer);
  }

  int fd() const { return socket_.get(); }
  // Events that have come; reads what the socket has without waiting.
  Result<std::vector<StreamItem>> take_items();

 private:
  explicit Connection(Fd socket) : socket_(std::move(socket)) {}
  Result<nlohmann::json> exchange(const char* method, const nlohmann::json& params,
                                  std::span<const int> descriptors);
  Status send(std::string_view bytes, std::span<const int> descriptors);
  Result<bool> receive(bool wait);
  Result<std::optional<protocol::Answer>> next_answer();

  Fd socket_;
  protocol::LineBuffer lines_{protocol::kMaxAnswerBytes};
  protocol::NotificationReader notifications_;
  std::vector<StreamItem> items_;
  int64_t last_id_ = 0;
};

}  // namespace tracectl
