// SPDX-License-Identifier: BSD-2-Clause
//
// The engine for a program that runs it in its own process: `tracectl --embedded`.
#pragma once

#include <functional>
#include <memory>
#include <span>

#include "daemon/base/result.h"
#include "daemon/model/arrived.h"
#include "daemon/protocol/methods.h"

namespace tracectl {

class LocalEngine {
 public:
  struct Options {
    bool verbose = false;  // log each decision to standard error, as the daemon does to the journal
    bool fast_nops = false;  // as in KernelOptions
    bool emulate = false;    // fails where the kernel does not let it
  };
  static Result<std::unique_ptr<LocalEngine>> start(const Options& options);
  ~LocalEngine();

  template <class Request> Result<typename Request::Reply> call(const Request& request) {
    return call_with(request, {});
  }

  // Sends descriptors with the request; the caller still owns its own.
  template <class Request>
  Result<typename Request::Reply> call_with(const Request& request,
                                            std::span<const int> descriptors) {
    Result<typename Request::Reply> reply = Error{};
    auto handled = handle(protocol::kNumberOf<Request>, &request, descriptors, &reply);
    if (!handled) return handled.error();
    return reply;
  }

  // Readable when events of subscribed sessions have come, until take_arrived() is called.
  int events_fd() const;
  // Calls `use` with the events of each of these sessions. They are valid during the call only.
  void take_arrived(const std::function<void(const Arrived&)>& use);

 private:
  struct Running;
  explicit LocalEngine(std::unique_ptr<Running> running);
  // `request` and `reply`: the method's request, and the Result of its reply. Fails if it was not handled.
  Status handle(size_t method, const void* request, std::span<const int> descriptors, void* reply);

  std::unique_ptr<Running> running_;
};

}  // namespace tracectl
