// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <span>
#include <string>

#include "daemon/base/fd.h"
#include "daemon/base/result.h"
#include "daemon/protocol/frames.h"
#include "daemon/protocol/methods.h"

namespace tracectl {

// A connection to the daemon. Calls wait for their answer; notifications that arrive meanwhile are kept.
class Connection {
 public:
  // `flags`: for socket(2). With SOCK_NONBLOCK it fails if it would have to wait until the daemon accepts it.
  static Result<Connection> open(const std::string& path, int flags = 0);

  template <class Request> Result<typename Request::Reply> call(const Request& request) {
    return call_with(request, {});
  }
  // The descriptors are sent with the request, and still belong to the caller.
  template <class Request>
  Result<typename Request::Reply> call_with(const Request& request,
                                            std::span<const int> descriptors) {
    if (auto asked = ask(request, descriptors); !asked) return asked.error();
    return answer_to<Request>();
  }

  // The two halves of a call, for callers that wait for something else in between: fd() becomes readable when
  // the answer or events arrive.
  template <class Request>
  Status ask(const Request& request, std::span<const int> descriptors = {}) {
    return ask(protocol::method_of<Request>(), &request, descriptors);
  }
  template <class Request> Result<typename Request::Reply> answer_to() {
    typename Request::Reply reply;
    auto taken = take_answer(protocol::method_of<Request>(), &reply);
    if (!taken) return taken.error();
    return reply;
  }

  int fd() const { return socket_.get(); }
  // The daemon has closed the connection, and a call has noticed it.
  bool is_closed() const { return is_closed_; }
  // The notifications that have arrived, a line each; reads from the socket without waiting.
  Result<std::string> take_notifications();

 private:
  explicit Connection(Fd socket) : socket_(std::move(socket)) {}
  // `request` and `reply` are the method's.
  Status ask(const protocol::Method& method, const void* request, std::span<const int> descriptors);
  Status take_answer(const protocol::Method& method, void* reply);
  Result<protocol::Json> wait_for_answer();
  Status send(std::string_view bytes, std::span<const int> descriptors);
  Result<bool> receive(bool wait);
  Result<std::optional<protocol::Answer>> next_answer();
  Error failure(const char* what);
  Error closed();

  Fd socket_;
  protocol::LineBuffer lines_{protocol::kMaxAnswerBytes};
  std::string notifications_;
  int64_t last_id_ = 0;
  bool is_closed_ = false;
};

}  // namespace tracectl
