// SPDX-License-Identifier: BSD-2-Clause
#include "client/render/hit_estimate.h"

#include <fmt/format.h>

#include "client/render/text.h"

namespace tracectl {

using namespace protocol;

namespace {

std::string single_steps_of(const CommitReply& reply) {
  std::string text;
  if (reply.slow_sites) text = fmt::format("{} of {} entries", reply.slow_sites, reply.sites);
  if (reply.slow_exits)
    text +=
        fmt::format("{}{} of {} exits", text.empty() ? "" : " and ", reply.slow_exits, reply.exits);
  return text;
}

}  // namespace

std::string hit_estimate_text(const CommitReply& reply) {
  if (!reply.slow_sites && !reply.slow_exits) return "";
  return fmt::format("about {} a {}: {} are single-stepped", duration_text(reply.hit_ns),
                     reply.exits ? "call" : "hit", single_steps_of(reply));
}

}  // namespace tracectl
