// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/model/plain_hit.h"

namespace tracectl {

Event event_of(const PlainHit& hit) {
  Event event;
  event.ts_ns = hit.ts_ns;
  event.epoch = hit.epoch;
  event.cpu = hit.cpu;
  event.pid = hit.pid;
  event.tid = hit.tid;
  event.comm = hit.comm.text();
  event.source = *hit.source;
  event.args.resize(hit.arg_count);
  for (size_t i = 0; i < hit.arg_count; ++i)
    if (hit.readable >> i & 1) event.args[i] = hit.args[i];
  return event;
}

}  // namespace tracectl
