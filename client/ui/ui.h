// SPDX-License-Identifier: BSD-2-Clause
//
// tracectl ui: choose a process and functions of it, and see what they do.
#pragma once

#include <cstdint>
#include <optional>

#include "client/ui/tracing.h"
#include "daemon/base/fd.h"

namespace tracectl::ui {

// The signals that end or resize the interface, and stop it. They are blocked from its creation on, in all threads that
// begin later.
class Signals {
 public:
  static Result<Signals> open();
  Signals(Signals&&) = default;
  Signals& operator=(Signals&&) = delete;
  int fd() const { return fd_.get(); }
  int take();  // 0: none has come
  // They have their usual effect again.
  static void release();

 private:
  explicit Signals(Fd fd) : fd_(std::move(fd)) {}
  Fd fd_;
};

// Returns the exit status. `pid`: the process, chosen already.
int run_ui(const CommonOptions& common, const TracingOptions& options, std::optional<int64_t> pid,
           Signals& signals, Backend& backend);

}  // namespace tracectl::ui
