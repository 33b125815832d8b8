// SPDX-License-Identifier: BSD-2-Clause
#include "client/render/hit_estimate.h"

#include <fmt/format.h>

#include "client/render/text.h"

namespace tracectl {
namespace {

std::string single_steps_of(const HitNumbers& hits) {
  std::string text;
  if (hits.slow_sites) text = fmt::format("{} of {} entries", hits.slow_sites, hits.sites);
  if (hits.slow_exits)
    text +=
        fmt::format("{}{} of {} exits", text.empty() ? "" : " and ", hits.slow_exits, hits.exits);
  return text;
}

}  // namespace

std::string hit_estimate_text(const HitNumbers& hits) {
  const std::string about =
      fmt::format("about {} a {}", duration_text(hits.hit_ns), hits.exits ? "call" : "hit");
  if (!hits.single_steps()) return about;
  return fmt::format("{}: {} are single-stepped", about, single_steps_of(hits));
}

std::string hit_estimate_text(const protocol::CommitReply& reply) {
  const HitNumbers hits{.sites = reply.sites,
                        .slow_sites = reply.slow_sites,
                        .exits = reply.exits,
                        .slow_exits = reply.slow_exits,
                        .hit_ns = reply.hit_ns};
  return hits.single_steps() ? hit_estimate_text(hits) : "";
}

}  // namespace tracectl
