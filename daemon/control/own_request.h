// SPDX-License-Identifier: BSD-2-Clause
//
// Requests that the daemon makes to its own engine before it serves clients.
#pragma once

#include <poll.h>

#include <memory>

#include "daemon/sessions/engine.h"

namespace tracectl {

// Waits for files to be read: no client has to wait meanwhile.
template <class Ask> auto when_read(Engine& engine, const Ask& ask) -> decltype(ask()) {
  Reading& reading = engine.reading();
  for (const auto learned = std::make_shared<Learned>();;) {
    engine.resolver().begin(learned);
    auto done = ask();
    const auto awaited = reading.awaited();
    if (done || !awaited) return done;
    while (!reading.is_answered(*awaited)) {
      pollfd readable{reading.fd(), POLLIN, 0};
      (void)::poll(&readable, 1, -1);
      reading.take_answers();
    }
  }
}

}  // namespace tracectl
