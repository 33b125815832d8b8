// SPDX-License-Identifier: BSD-2-Clause
#include "client/connection/growth.h"

#include <algorithm>

#include "client/output/output.h"
#include "client/render/call_names.h"
#include "client/render/text.h"

namespace tracectl {
namespace {

using namespace protocol;

constexpr size_t kMostNamed = 8;

void note(const std::string& text) { print_error("tracectl: note: " + text + "\n"); }

std::string names_of(const std::vector<std::string>& probes) {
  CallNames calls;
  std::string names;
  for (size_t i = 0; i < std::min(probes.size(), kMostNamed); ++i)
    names += (i ? ", " : "") + calls.of(probes[i]);
  if (probes.size() > kMostNamed)
    names += " and " + std::to_string(probes.size() - kMostNamed) + " more";
  return names;
}

void report(const GrowReply& grown) {
  if (!grown.added.empty())
    note("grown by " + plural(grown.added.size(), "function") + ": " + names_of(grown.added));
  for (size_t i = 0; i < std::min(grown.refused.size(), kMostNamed); ++i)
    note("not grown by " + CallNames().of(grown.refused[i].probe) + ": " + grown.refused[i].reason);
  if (grown.refused.size() > kMostNamed)
    note("not grown by " + std::to_string(grown.refused.size() - kMostNamed) + " more");
}

}  // namespace

void Growth::go_on() {
  if (ended_ || Clock::now() < next_) return;
  const auto grown = backend_.call(StageGrow{session_});
  next_ = Clock::now() + std::chrono::milliseconds(kEveryMs);
  if (grown) return report(*grown);
  if (grown.error().code == Code::busy) return;  // for now
  ended_ = true;
  note("grows no more: " + grown.error().message);
}

}  // namespace tracectl
