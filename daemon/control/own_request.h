// SPDX-License-Identifier: BSD-2-Clause
//
// What the daemon asks of its own engine before it serves anybody.
#pragma once

#include <poll.h>

#include <memory>

#include "daemon/sessions/engine.h"

namespace tracectl {

// Nobody is kept waiting, so it waits for what is read of files.
template <class Ask> auto when_read(Engine& engine, const Ask& ask) -> decltype(ask()) {
  Reading& reading = engine.reading();
  for (const auto learned = std::make_shared<Learned>();;) {
    engine.begin(learned);
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
