// SPDX-License-Identifier: BSD-2-Clause
//
// The engine for a program that runs it in its own process: `tracectl --embedded`.
#pragma once

#include <fcntl.h>

#include <memory>
#include <span>

#include "daemon/base/fd.h"
#include "daemon/control/commands.h"
#include "daemon/sessions/engine.h"
#include "daemon/stream/item_queue.h"

namespace tracectl {

class LocalEngine {
 public:
  struct Options {
    bool verbose = false;  // log each decision to standard error, as the daemon does to the journal
    bool fast_nops = false;  // as in KernelOptions
  };
  static Result<std::unique_ptr<LocalEngine>> start(const Options& options);
  ~LocalEngine();

  template <class Request> Result<typename Request::Reply> call(const Request& request) {
    return commands_.handle(request, peer_);
  }

  // Sends descriptors with the request; the caller still owns its own.
  template <class Request>
  Result<typename Request::Reply> call_with(const Request& request,
                                            std::span<const int> descriptors) {
    for (const int descriptor : descriptors) {
      Fd copy{::fcntl(descriptor, F_DUPFD_CLOEXEC, 0)};
      if (!copy) {
        Error error = Error::from_errno("keep the file");
        peer_.descriptors.clear();
        return error;
      }
      peer_.descriptors.push_back(std::move(copy));
    }
    auto reply = commands_.handle(request, peer_);
    peer_.descriptors.clear();
    return reply;
  }

  // Readable when items of subscribed sessions have come, until take_items() is called.
  int events_fd() const { return wake_.get(); }
  std::vector<StreamItem> take_items();

 private:
  LocalEngine(std::unique_ptr<Engine> engine, Fd wake);

  Fd wake_;
  ServerCounts counts_;
  std::unique_ptr<Engine> engine_;
  Commands commands_;
  Peer peer_;
};

}  // namespace tracectl
