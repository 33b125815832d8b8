// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/control/commands.h"

#include "daemon/control/request_limits.h"

namespace tracectl {

Commands::Commands(Engine& engine, const ServerCounts& counts,
                   std::optional<FlightRecorders::Unasked> unasked, DescriptorStore* store)
    : engine_(engine),
      flight_recorders_(engine, std::move(unasked)),
      saved_(engine, flight_recorders_, store),
      recordings_(engine, flight_recorders_),
      daemon_(engine, counts, flight_recorders_),
      probes_(engine),
      sessions_(engine, flight_recorders_, recordings_, saved_),
      stage_(engine, saved_),
      results_(engine) {}

Status Commands::check_memory(const Peer& peer) const {
  return tracectl::check_memory(peer, engine_.options().memory_bytes);
}

}  // namespace tracectl
